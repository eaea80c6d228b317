"""The API of what is said about the game: log entries, incidents, evidence, search and advice."""
