"""Limits and signs: what a box may hold, what is missing, and what changes."""
