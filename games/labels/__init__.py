"""What people read instead of ids and codes: boxes, rules, rulebooks, events and money. Pages, PDF and XLSX use it."""
