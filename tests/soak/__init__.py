"""Seeded runs that kill and fuzz: a small share of them in `make test`, as many as wanted in `make soak`."""
