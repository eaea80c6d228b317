"""The REST API under /api/v1/, with the same services and the same gate as pages and commands."""
