"""Reports as XLSX, by XlsxWriter."""
