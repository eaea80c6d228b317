"""XLSX by XlsxWriter."""
