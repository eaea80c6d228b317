"""Rulings: precedents, what is to be reviewed, the books of a round that was ruled on."""
