"""Checks for procedural findings over the rounds of a table: procedure, people, table signs."""
