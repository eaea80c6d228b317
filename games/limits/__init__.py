"""Limits: proposals, decisions, and the table signs that follow from them."""
