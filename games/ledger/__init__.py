"""The ledger: a hash chain a table, one leaf for each round or record."""
