"""Benchmarks: ratios measured side by side in one run, since machines differ and are noisy. `make bench`."""
