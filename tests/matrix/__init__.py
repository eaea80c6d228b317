"""Every route × role × method × place, as data (tests/routes.toml): the objects, the walk and the defaults."""
