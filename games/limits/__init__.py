"""Limits: proposals, decisions, and the signs that follow from them."""
