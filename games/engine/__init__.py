"""The rules applied: pure Python over rulebooks. No Django, no clock, no settings, standard library only."""
