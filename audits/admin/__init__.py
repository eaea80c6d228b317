from audits.admin import (
    dispute,
    evidence,
    finding,
    handover,
    incident,
    log,
    notice,
    policy,
    run,
    shift,
    summary,
)

__all__ = [
    "dispute",
    "evidence",
    "finding",
    "handover",
    "incident",
    "log",
    "notice",
    "policy",
    "run",
    "shift",
    "summary",
]
