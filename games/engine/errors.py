"""What the engine cannot work with, as sentences for whoever wrote it."""


class InputError(Exception):
    """Wrong input: one sentence a fault, each with where it is and what to do."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults
