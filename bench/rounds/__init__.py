"""Recording rounds, and playing them live."""
