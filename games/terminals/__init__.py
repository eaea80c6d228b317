"""Terminals: the programs that send rounds, each with its own key."""
