"""What a corrective action changes: which rounds, which nets, and who pays whom."""
