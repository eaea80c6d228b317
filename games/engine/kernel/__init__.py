"""Settle many rounds at once, with NumPy."""
