"""A worker that loads this with --include tells after every few rounds how far it has come, not twice a second."""

import datetime as dt

from audits.reconciliation import bulk_read
from audits.reconciliation.services import runs

bulk_read.BLOCK = 1
bulk_read.SLICE = dt.timedelta(minutes=5)
runs.EVERY_SECONDS = 0.0
