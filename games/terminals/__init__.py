"""Terminals: the programs that send rounds, each with a key."""
