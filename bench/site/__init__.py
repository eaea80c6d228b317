"""The site: start, pages, slow and hostile clients."""
