"""How a person signs in: links, passwords, second factors, sessions, and throttled attempts."""
