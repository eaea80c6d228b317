"""Rounds as table systems send them: read, checked and prepared for recording."""
