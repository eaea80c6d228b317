"""Findings: what reconciliation found, and what people do about it."""
