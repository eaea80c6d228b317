"""Reports as PDF/A, typeset by typst."""
