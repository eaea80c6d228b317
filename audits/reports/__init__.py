"""What a report says: one class a report. How a file is written is `audits.exports`."""
