"""Write report files: rows come in, files go out. Knows nothing of games."""
