"""Rounds in play: what terminals send, and the answers they get."""
