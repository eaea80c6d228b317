"""The rules at work: pure Python over rulebooks. No Django, no clock, no settings, standard library only."""
