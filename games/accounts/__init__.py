"""How a person signs in: links, passwords, second factors, sessions and login throttling."""
