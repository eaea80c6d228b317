"""What fails at one table keeps no other waiting: it is told of when all have had their turn."""

from types import TracebackType
from typing import Self


class DeferredFaults:
    """Entered for each of many steps: what one raises is kept, and the next one goes on."""

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
        if self._kept:
            raise ExceptionGroup(f"{len(self._kept)} of the steps failed", self._kept)
