"""Formats of dates and times on pages: day first, 24-hour clock."""
