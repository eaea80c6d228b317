"""Evidence files: which types are accepted, and how they are downloaded."""
