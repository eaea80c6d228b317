"""How the admin looks, and its sidebar: groups by task, each person seeing what is his own."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse, reverse_lazy
from django.utils import timezone


def page(
    title: str, icon: str, route: str, action: str, badge: Callable[[HttpRequest], str] | None = None
) -> dict[str, Any]:
    """A sidebar entry, there for whoever may do `action`; `badge` says what is to be told beside its title."""

    def permission(request: HttpRequest) -> bool:
        # Here, because the settings import this module before any model can be imported.
        from games.access.gate import can

        return can(request.user, action)

    return {"title": title, "icon": icon, "link": reverse(route), "permission": permission, "badge": badge}


def open_alerts(request: HttpRequest) -> str:
    # Here, because the settings import this module before any model can be imported.
    from audits.findings.dashboard import alerts_badge

    return alerts_badge(request)


def group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "items": list(items), "separator": True}


def sidebar() -> list[dict[str, Any]]:
    """By task, in the order of a shift. A group without a page for the person at the keyboard is not shown."""
    return [
        {"items": [{"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}]},
        group(
            "Floor",
            page("Tables", "table_restaurant", "admin:games_table_changelist", "table.view"),
            page("Limit proposals", "edit_note", "admin:games_limitproposal_changelist", "limitproposal.view"),
            page("Limit presets", "bookmark", "admin:games_limitpreset_changelist", "limitpreset.view"),
            page("Signs", "signpost", "admin:games_limitset_changelist", "limitset.view"),
            page("Dice sets", "casino", "admin:games_diceset_changelist", "diceset.view"),
            page("Tumblers", "cyclone", "admin:games_tumbler_changelist", "tumbler.view"),
            page("Casinos", "apartment", "admin:games_casino_changelist", "casino.view"),
            page("Pits", "grid_view", "admin:games_pit_changelist", "pit.view"),
        ),
        group(
            "Rounds",
            page("Rounds", "receipt_long", "admin:games_round_changelist", "round.view"),
            page("Rounds in play", "play_circle", "admin:games_liveround_changelist", "liveround.view"),
            page("Uploads", "upload_file", "admin:games_importjob_changelist", "importjob.view"),
        ),
        group(
            "Incidents",
            page("Incidents", "report", "admin:audits_incident_changelist", "incident.view"),
            page("Daily log", "menu_book", "admin:audits_logentry_changelist", "logentry.view"),
            page("Handovers", "handshake", "admin:audits_handover_changelist", "handover.view"),
            page("Disputes", "feedback", "admin:audits_dispute_changelist", "dispute.view"),
            page("Evidence", "attach_file", "admin:audits_evidence_changelist", "evidence.view"),
            page("Search", "search", "admin:audits_incident_search", "incident.view"),
            page("Shifts", "more_time", "admin:audits_shift_changelist", "shift.view"),
            page("Dispute rules", "balance", "admin:audits_disputerule_changelist", "disputerule.view"),
        ),
        group(
            "Rulings",
            page("Rulings", "gavel", "admin:audits_ruling_changelist", "ruling.view"),
            page("Standing interpretations", "push_pin", "admin:audits_ruling_standing", "ruling.view"),
            page("Consequences", "published_with_changes", "admin:audits_consequence_changelist", "consequence.view"),
            page("Discretion", "how_to_reg", "admin:audits_discretion_changelist", "discretion.view"),
            page("Settlement policies", "rule", "admin:games_settlementpolicy_changelist", "settlementpolicy.view"),
        ),
        group(
            "Findings",
            page("Findings", "troubleshoot", "admin:audits_finding_changelist", "finding.view", badge=open_alerts),
            page("Days", "calendar_month", "admin:audits_daysummary_changelist", "daysummary.view"),
            page("Runs", "autorenew", "admin:audits_run_changelist", "run.view"),
            page("Thresholds", "tune", "admin:games_thresholdchange_changelist", "thresholdchange.view"),
            page("Notices", "notifications", "admin:audits_notice_changelist", "notice.view"),
        ),
        group(
            "Reports",
            page("Reports", "summarize", "admin:audits_reportrun_changelist", "report.view"),
            page("Report schedules", "event_repeat", "admin:audits_reportschedule_changelist", "reportschedule.view"),
            page("Refused attempts", "gpp_bad", "admin:games_denial_changelist", "denial.view"),
            page("Failed logins", "lock_person", "admin:games_failedlogin_changelist", "failedlogin.view"),
            page("Access records", "visibility", "admin:games_accessrecord_changelist", "accessrecord.view"),
            page("Access reviews", "fact_check", "admin:games_accessreview_changelist", "accessreview.view"),
        ),
        group(
            "People",
            page("Staff", "badge", "admin:games_staff_changelist", "staff.view"),
            page("Acting appointments", "swap_vert", "admin:games_duty_changelist", "duty.view"),
            page("Sessions", "devices", "admin:games_loginsession_changelist", "loginsession.view"),
            page("Second factor resets", "phonelink_erase", "admin:games_factorreset_changelist", "factorreset.view"),
            page("Account proposals", "how_to_reg", "admin:games_accountproposal_changelist", "accountproposal.view"),
        ),
        group(
            "System",
            page("Terminals", "vpn_key", "admin:games_terminal_changelist", "terminal.view"),
            page("Schedule", "schedule", "admin:django_celery_beat_periodictask_changelist", "periodictask.view"),
            page("Task results", "task_alt", "admin:django_celery_results_taskresult_changelist", "taskresult.view"),
        ),
    ]


def sidebar_groups(groups: list[dict[str, Any]], request: HttpRequest) -> list[dict[str, Any]]:
    """Without the groups that would be empty; with the badges of what the person sees."""
    shown = [group for group in groups if any(item["has_permission"] for item in group["items"])]
    for item in (item for one in shown for item in one["items"]):
        badge = item.get("badge")
        if callable(badge):
            item["badge"] = badge(request) if item["has_permission"] else ""
            item["badge_variant"] = "danger"
    return shown


def environment_label(request: HttpRequest) -> list[str]:
    """On every page: whose time its clocks show, and whether all this is only a demonstration."""
    place = timezone.get_current_timezone_name().rpartition("/")[2].replace("_", " ")
    return [f"{place} time", "info"] if settings.PRODUCTION else [f"Demo · {place} time", "warning"]


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Tai Sai back office",
    "SITE_HEADER": "Tai Sai",
    "SITE_SUBHEADER": "Back office",
    "SITE_URL": None,
    "SITE_ICON": lambda request: static("taisai/icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("taisai/icon.svg")}],
    "STYLES": [lambda request: static("taisai/site.css")],
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("admin:password_change")},
            {"title": "Your sessions", "link": reverse_lazy("admin:own_sessions")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
        ]
    },
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "BORDER_RADIUS": "8px",
    "ENVIRONMENT": "taisai_backoffice.site.navigation.environment_label",
    "COLORS": {
        "primary": {  # the green of the felt
            "50": "oklch(97% .02 163)",
            "100": "oklch(94% .04 163)",
            "200": "oklch(88% .08 163)",
            "300": "oklch(79% .11 163)",
            "400": "oklch(69% .13 163)",
            "500": "oklch(59% .12 163)",
            "600": "oklch(49% .10 163)",
            "700": "oklch(42% .09 163)",
            "800": "oklch(36% .07 163)",
            "900": "oklch(31% .06 163)",
            "950": "oklch(22% .045 163)",
        },
    },
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": lambda request: sidebar(),
    },
}
