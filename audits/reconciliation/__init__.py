"""Re-settling rounds: read in bulk, settled by the kernel, explained by the engine, saved with the day's figures."""

import os

# One core a worker: the matrices are small, and threads of several workers would fight over the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
