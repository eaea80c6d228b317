"""The only writers. One verb a function, one transaction, its gate in the first line."""
