"""Simulated rounds with known faults planted in them. Never uses the settlement code."""
