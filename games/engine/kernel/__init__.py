"""Settling many rounds at once, with NumPy."""
