"""The history of every audited record: who changed what, when and why."""
