"""A round as it is played: the order of play, irregularities, and what is wrong with a recorded round."""
