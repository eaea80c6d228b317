"""Notifications: who was notified of what, on the site and by e-mail."""
