"""Rounds as they could have been played, with known faults planted in them. Never asks the settlement code."""
