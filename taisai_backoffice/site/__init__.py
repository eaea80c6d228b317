"""The admin site: its pages, its look and its sidebar."""
