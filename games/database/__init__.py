"""What PostgreSQL itself knows: grants and triggers, functions made from the rulebooks, statements of our own."""
