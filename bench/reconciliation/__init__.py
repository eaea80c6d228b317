"""A day reconciled."""
