"""Rulebooks: load them, cite them, and look up what they say about a situation."""
