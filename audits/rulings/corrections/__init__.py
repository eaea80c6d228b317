"""Corrective actions, worked out: which rounds, which nets, who pays whom."""
