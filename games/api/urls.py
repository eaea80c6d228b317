"""Every address of the API that is about the game; taisai_backoffice.urls puts them together with those of audits."""

from django.urls import path

from games.api import description, limits, live, rounds, tables, tumblers

urlpatterns = [
    path("schema/", description.Description.as_view(), name="schema"),
    path("docs/", description.page, name="docs"),
    path("tables/", tables.TableList.as_view(), name="tables"),
    path("tables/<str:code>/", tables.TableDetail.as_view(), name="table"),
    path("tables/<str:code>/limits/", tables.TableLimits.as_view(), name="table_limits"),
    path("tables/<str:code>/timeline/", tables.TableTimeline.as_view(), name="table_timeline"),
    path("tables/<str:code>/dice/", tables.TableDice.as_view(), name="table_dice"),
    path("tables/<str:code>/tumbler/", tumblers.TableTumbler.as_view(), name="table_tumbler"),
    path("limit-proposals/", limits.ProposalList.as_view(), name="limit_proposals"),
    path("limit-proposals/<int:key>/", limits.ProposalDetail.as_view(), name="limit_proposal"),
    path("limit-proposals/<int:key>/approve/", limits.ProposalApproval.as_view(), name="limit_proposal_approve"),
    path("limit-proposals/<int:key>/reject/", limits.ProposalRejection.as_view(), name="limit_proposal_reject"),
    path("limit-proposals/<int:key>/withdraw/", limits.ProposalWithdrawal.as_view(), name="limit_proposal_withdraw"),
    path("rounds/", rounds.RoundList.as_view(), name="rounds"),
    path("rounds/import/", rounds.RoundImport.as_view(), name="round_import"),
    path("rounds/<int:key>/", rounds.RoundDetail.as_view(), name="round"),
    path("live-rounds/", live.LiveRoundList.as_view(), name="live_rounds"),
    path("live-rounds/<int:key>/", live.LiveRoundDetail.as_view(), name="live_round"),
    path("live-rounds/<int:key>/steps/", live.LiveRoundSteps.as_view(), name="live_round_steps"),
    path("dice-sets/", tables.DiceSetList.as_view(), name="dice_sets"),
    path("dice-sets/<int:key>/", tables.DiceSetDetail.as_view(), name="dice_set"),
    path("tumblers/", tumblers.TumblerList.as_view(), name="tumblers"),
    path("tumblers/<int:key>/", tumblers.TumblerDetail.as_view(), name="tumbler"),
]
