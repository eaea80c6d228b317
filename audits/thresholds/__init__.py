"""Thresholds as people see and change them."""
