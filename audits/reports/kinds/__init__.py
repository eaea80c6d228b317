"""The reports, one class each."""
