"""Findings: what reconciliation found, and what people do about each finding."""
