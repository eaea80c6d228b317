"""Thresholds of a casino, changed by two people of compliance."""
