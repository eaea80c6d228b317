"""Evidence files: which are accepted, and how they are handed out."""
