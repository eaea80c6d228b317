from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.core.checks import register
from django.db.models.signals import post_migrate


class GamesConfig(AppConfig):
    name = "games"
    verbose_name = "Games"

    def ready(self) -> None:
        # Here, because Django reads this module before any model can be imported.
        from django_structlog.signals import bind_extra_request_finished_metadata
        from simple_history.signals import pre_create_historical_record

        from games.access.middleware import log_no_person
        from games.access.services.people import login_note
        from games.accounts.services.sessions import session_begin, session_left
        from games.database import role_grants
        from games.history.records import name_the_author

        # Django's own receiver saves the whole person, which would write a history row at each login.
        user_logged_in.disconnect(dispatch_uid="update_last_login")
        user_logged_in.connect(login_note, dispatch_uid="login_note")
        user_logged_in.connect(session_begin, dispatch_uid="session_begin")
        user_logged_out.connect(session_left, dispatch_uid="session_left")
        pre_create_historical_record.connect(name_the_author, dispatch_uid="name_the_author")
        bind_extra_request_finished_metadata.connect(log_no_person, dispatch_uid="log_no_person")
        register(role_grants.check_grants)
        post_migrate.connect(role_grants.protect, dispatch_uid="protect_tables")
