"""Limits and signs: what a box may hold, which limits are missing, and what changes."""
