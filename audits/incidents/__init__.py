"""Incidents: which states a file has, and what the product advises."""
