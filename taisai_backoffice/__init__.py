"""The Tai Sai back office: the project around the apps `games` and `audits`."""
