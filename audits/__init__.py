"""What is said about the game: findings, incidents, rulings, reports. May import `games`."""
