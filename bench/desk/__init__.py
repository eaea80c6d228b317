"""Incidents, precedents and reports."""
