"""What all admin pages share."""
