"""Reconciliation: read rounds in bulk, settle them again, explain what differs, save findings and daily results."""

import os

# One core for each worker: the matrices are small, and threads of several workers would compete for the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
