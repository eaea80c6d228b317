"""How dates and times look on pages: the day first and 24 hours, as a pit reads its clock."""
