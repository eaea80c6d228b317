"""How a file is written. Knows nothing of games: rows come in, text goes out."""
