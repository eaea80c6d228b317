"""Continue with the other tables when one fails, and raise all errors at the end."""

from types import TracebackType
from typing import Self


class DeferredFaults:
    """A context manager to enter for each of many steps. It keeps what a step raises, for `raise_all`."""

    def __init__(self) -> None:
        self._kept: list[Exception] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._kept.append(error)
        return True

    def raise_all(self) -> None:
        """Raise the kept errors as a group, if there are any."""
        if self._kept:
            raise ExceptionGroup(f"{len(self._kept)} of the steps failed", self._kept)
