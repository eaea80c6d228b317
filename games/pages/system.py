"""The scheduler's tables, read-only. Other models of packages have no pages."""

from django.contrib import admin
from django.contrib.auth.models import Group
from django_celery_beat import models as beat
from django_celery_results import models as results
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.pages.gated import GatedAdmin

for model in (
    Group,
    beat.ClockedSchedule, beat.CrontabSchedule, beat.IntervalSchedule, beat.PeriodicTask, beat.SolarSchedule,
    results.GroupResult, results.TaskResult, StaticDevice, TOTPDevice,
):  # fmt: skip
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(beat.PeriodicTask)
class ScheduleAdmin(GatedAdmin):
    list_display = ["name", "task", "scheduler", "enabled", "last_run_at", "total_run_count"]
    search_fields = ["name", "task"]
    fields = readonly_fields = ["name", "task", "scheduler", "enabled", "last_run_at", "total_run_count", "description"]


@admin.register(results.TaskResult)
class TaskResultAdmin(GatedAdmin):
    list_display = ["date_done", "task_name", "status", "worker"]
    list_filter = ["status", "task_name"]
    search_fields = ["task_id", "task_name"]
    ordering = ["-date_done"]
    fields = readonly_fields = [
        "task_id",
        "task_name",
        "status",
        "worker",
        "date_created",
        "date_done",
        "result",
        "traceback",
    ]
