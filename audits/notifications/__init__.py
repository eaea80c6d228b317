"""Notifications: whom the product told of what, in the app and by e-mail."""
