"""Incidents: the daily log, files, evidence, disputes, and advice."""
