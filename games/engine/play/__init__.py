"""A round as it is played: the order of play, irregularities, and the faults of a recorded round."""
