"""Checks of our own over the rounds of a table: procedure, people, signs."""
