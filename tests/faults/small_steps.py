"""A worker that loads this with --include tells after every few rounds how far it has come, not twice a second."""

import datetime as dt

from audits.reconciliation import reading
from audits.services import runs

reading.BLOCK = 1
reading.SLICE = dt.timedelta(minutes=5)
runs.EVERY_SECONDS = 0.0
