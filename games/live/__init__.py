"""Rounds while they are played: what terminals send, and what they are answered."""
