"""Table signs, for people and for programs."""
