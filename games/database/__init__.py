"""What PostgreSQL itself enforces and computes: grants and triggers, functions made from the rulebooks, our own SQL."""
