"""Rulings: what was decided where the rules leave it open, and the corrective actions that follow."""
