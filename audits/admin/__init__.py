from audits.admin import finding, notice, policy, run, summary

__all__ = ["finding", "notice", "policy", "run", "summary"]
