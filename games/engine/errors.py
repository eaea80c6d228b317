"""Errors for input that the engine cannot use, as sentences for its author."""


class InputError(Exception):
    """Wrong input: one sentence for each fault, with its place and what to do."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults
