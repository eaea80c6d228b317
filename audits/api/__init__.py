"""The API of the audits: log entries, incidents, evidence, rulings, reports, search and advice."""
