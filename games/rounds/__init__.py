"""Rounds as table systems send them: read, checked and made ready to be recorded."""
