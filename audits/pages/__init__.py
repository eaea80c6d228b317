"""What every page of the audits shares."""
