"""The ledger: a hash chain per table, with one leaf for each round or record."""
