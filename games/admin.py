"""Every admin page of the game, subject by subject: Django looks for them here."""

from games.access.admin import access_records, access_reviews, acting_appointments, denials, people
from games.accounts.admin import account_proposals, factor_resets, sessions
from games.floor.admin import casinos, dice, tables, tumblers
from games.limits.admin import presets, proposals
from games.live.admin import live_rounds
from games.pages import system
from games.rounds.admin import rounds, uploads
from games.terminals import admin as terminals

__all__ = [
    "access_records",
    "access_reviews",
    "account_proposals",
    "acting_appointments",
    "casinos",
    "denials",
    "dice",
    "factor_resets",
    "live_rounds",
    "people",
    "presets",
    "proposals",
    "rounds",
    "sessions",
    "system",
    "tables",
    "terminals",
    "tumblers",
    "uploads",
]
