"""Casinos, pits, tables, dice sets and tumblers; the floor file."""
