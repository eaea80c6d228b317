"""What every page of the admin shares."""
