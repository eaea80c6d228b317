"""The game: what was played, by whom it was run, under which rules and limits. Never imports `audits`."""
