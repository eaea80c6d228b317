"""Reconciliation of a day."""
