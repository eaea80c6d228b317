"""PDF/A by typst."""
