"""Settlement policies: how a casino settles where the rules leave room."""
