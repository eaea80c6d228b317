"""The REST API under /api/v1/: the same services and the same gate as every other door."""
