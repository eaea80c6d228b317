from django.urls import path

from games.floor.api import tables, tumblers

urlpatterns = [
    path("tables/", tables.TableList.as_view(), name="tables"),
    path("tables/<str:code>/", tables.TableDetail.as_view(), name="table"),
    path("tables/<str:code>/limits/", tables.TableLimits.as_view(), name="table_limits"),
    path("tables/<str:code>/timeline/", tables.TableTimeline.as_view(), name="table_timeline"),
    path("tables/<str:code>/dice/", tables.TableDice.as_view(), name="table_dice"),
    path("tables/<str:code>/tumbler/", tumblers.TableTumbler.as_view(), name="table_tumbler"),
    path("dice-sets/", tables.DiceSetList.as_view(), name="dice_sets"),
    path("dice-sets/<int:key>/", tables.DiceSetDetail.as_view(), name="dice_set"),
    path("tumblers/", tumblers.TumblerList.as_view(), name="tumblers"),
    path("tumblers/<int:key>/", tumblers.TumblerDetail.as_view(), name="tumbler"),
]
