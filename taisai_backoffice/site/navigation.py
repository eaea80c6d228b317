"""The design of the admin and its sidebar: groups by task, each person with the pages they may open."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.module_loading import import_string

#: Named, not imported: the settings import this module before any model can be imported.
OPEN_ALERTS = "audits.findings.dashboard.alerts_badge"


def page(title: str, icon: str, route: str, action: str, badge: str | None = None) -> dict[str, Any]:
    """Make a sidebar entry for people who may do `action`; the function named `badge` returns the text beside it."""

    def permission(request: HttpRequest) -> bool:
        return action in allowed_actions(request)

    return {"title": title, "icon": icon, "link": reverse(route), "permission": permission, "badge_from": badge}


def allowed_actions(request: HttpRequest) -> set[str]:
    """Return every action that the person may do anywhere, worked out once a request."""
    # Here, because the settings import this module before any model can be imported.
    from games.access.gate import capacities

    found: set[str] | None = getattr(request, "allowed_actions", None)
    if found is None:
        found = {action for capacity in capacities(request.user) for action in capacity.role.may}
        request.allowed_actions = found  # type: ignore[attr-defined]
    return found


def group(title: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "items": list(items), "separator": True}


@cache
def sidebar() -> list[dict[str, Any]]:
    """List the groups by task, in the order of a shift."""
    return [
        {"items": [{"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")}]},
        group(
            "Floor",
            page("Tables", "table_restaurant", "admin:games_table_changelist", "table.view"),
            page("Limit proposals", "edit_note", "admin:games_limitproposal_changelist", "limitproposal.view"),
            page("Limit presets", "bookmark", "admin:games_limitpreset_changelist", "limitpreset.view"),
            page("Table signs", "signpost", "admin:games_limitset_changelist", "limitset.view"),
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
            page(
                "Corrective actions",
                "published_with_changes",
                "admin:audits_consequence_changelist",
                "consequence.view",
            ),
            page("Discretion", "how_to_reg", "admin:audits_discretion_changelist", "discretion.view"),
            page("Settlement policies", "rule", "admin:games_settlementpolicy_changelist", "settlementpolicy.view"),
        ),
        group(
            "Findings",
            page("Findings", "troubleshoot", "admin:audits_finding_changelist", "finding.view", badge=OPEN_ALERTS),
            page("Daily results", "calendar_month", "admin:audits_daysummary_changelist", "daysummary.view"),
            page("Reconciliation runs", "autorenew", "admin:audits_run_changelist", "run.view"),
            page("Thresholds", "tune", "admin:games_thresholdchange_changelist", "thresholdchange.view"),
            page("Notifications", "notifications", "admin:audits_notice_changelist", "notice.view"),
        ),
        group(
            "Reports",
            page("Reports", "summarize", "admin:audits_reportrun_changelist", "report.view"),
            page("Report schedules", "event_repeat", "admin:audits_reportschedule_changelist", "reportschedule.view"),
            page("Access denials", "gpp_bad", "admin:games_denial_changelist", "denial.view"),
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


@cache
def sidebar_places() -> dict[str, tuple[str, str]]:
    """Map the address of each sidebar page to its group and title, for breadcrumbs and page titles."""
    return {
        str(item["link"]): (group["title"], item["title"])
        for group in sidebar()
        if "title" in group
        for item in group["items"]
    }


def sidebar_groups(groups: list[dict[str, Any]], request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups that are not empty, with the badges that the person sees."""
    shown = [group for group in groups if any(item["has_permission"] for item in group["items"])]
    for item in (item for group in shown for item in group["items"]):
        if badge := item.get("badge_from"):
            item["badge"] = import_string(badge)(request) if item["has_permission"] else ""
            item["badge_variant"] = "danger"
    return shown


def environment_label(request: HttpRequest) -> list[str]:
    """Return the label on every page: the time zone of its clock, and whether this is a demonstration."""
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
