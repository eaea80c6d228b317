"""Rulebooks: loading them, citing them, and what they say about a situation."""
