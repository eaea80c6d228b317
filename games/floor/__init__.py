"""Set-up data: casinos, pits, tables, limits and staff as one TOML file, read strictly."""
