"""The content of reports, one class for each. `audits.exports` writes the files."""
