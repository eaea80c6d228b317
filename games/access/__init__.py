"""Who may do what: people, posts, acting appointments, the gate, what it denied, and who read what."""
