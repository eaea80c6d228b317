"""Grants on the tables of Django and of packages, whose models declare none themselves.

The keys are model labels. An installed model that is missing here is an error of `manage.py check`, and so is a label
of a model that is not installed.
"""

from games.database.grants import READ_ONLY, Grants

#: Rows are added and never changed. No triggers: a migration of the package may have to change them.
ADD_ONLY = Grants()

PACKAGE_GRANTS = {
    # Django: `migrate` fills the next four as the owner; the product has its own roles
    "auth.Group": READ_ONLY,
    "auth.Group_permissions": READ_ONLY,
    "auth.Permission": READ_ONLY,
    "contenttypes.ContentType": READ_ONLY,
    "admin.LogEntry": ADD_ONLY,
    "sessions.Session": Grants(update=("session_data", "expire_date"), delete=True),
    # second factors: django-otp saves all columns of a device; an enrolment replaces it, a reset deletes it
    "otp_totp.TOTPDevice": Grants(
        update=(
            "user", "name", "confirmed", "throttling_failure_timestamp", "throttling_failure_count", "created_at",
            "last_used_at", "key", "step", "t0", "digits", "tolerance", "drift", "last_t",
        ),
        delete=True,
    ),
    "otp_static.StaticDevice": Grants(
        update=(
            "user", "name", "confirmed", "throttling_failure_timestamp", "throttling_failure_count", "created_at",
            "last_used_at",
        ),
        delete=True,
    ),
    "otp_static.StaticToken": Grants(delete=True),
    # the schedule: beat writes the settings and when each task last ran; it saves all columns
    "django_celery_beat.PeriodicTask": Grants(
        update=(
            "name", "task", "interval", "crontab", "solar", "clocked", "args", "kwargs", "queue", "exchange",
            "routing_key", "headers", "priority", "expires", "expire_seconds", "one_off", "start_time", "enabled",
            "last_run_at", "total_run_count", "date_changed", "description",
        ),
    ),
    "django_celery_beat.PeriodicTasks": Grants(update=("last_update",)),
    "django_celery_beat.IntervalSchedule": Grants(update=("every", "period")),
    "django_celery_beat.CrontabSchedule": Grants(
        update=("minute", "hour", "day_of_month", "month_of_year", "day_of_week", "timezone"),
    ),
    "django_celery_beat.SolarSchedule": READ_ONLY,
    "django_celery_beat.ClockedSchedule": READ_ONLY,
    # results of tasks: the worker saves all columns; deleted after a day; no task is a group or a chord
    "django_celery_results.TaskResult": Grants(
        update=(
            "task_id", "periodic_task_name", "task_name", "task_args", "task_kwargs", "status", "worker",
            "content_type", "content_encoding", "result", "date_created", "date_started", "date_done", "traceback",
            "meta",
        ),
        delete=True,
    ),
    "django_celery_results.GroupResult": Grants(insert=False, delete=True),
    "django_celery_results.ChordCounter": READ_ONLY,
}  # fmt: skip
