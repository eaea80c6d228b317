"""Copy rows into the database in a thread, while the next rounds are parsed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Self

from django.db import connection

from games.rounds.rows import COLUMNS

COPY = f"COPY games_round ({', '.join(COLUMNS)}) FROM STDIN"


class Copying:
    """Copies rows in the background. A connection does one thing at a time, so every other use waits for the copy."""

    def __init__(self) -> None:
        self._under_way: Future[None] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._thread = stack.enter_context(ThreadPoolExecutor(1))
            stack.enter_context(connection.execute_wrapper(self._after_the_rows))
            self._open = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.close()  # waits for the thread
        if kind is None:
            self.wait()

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.wait()
        self._under_way = self._thread.submit(_copy, connection.connection, rows)

    def wait(self) -> None:
        """Wait until the rows are written, and raise their errors."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _after_the_rows(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.wait()
        return execute(*arguments)


def _copy(database: Any, rows: Sequence[tuple[Any, ...]]) -> None:
    with database.cursor() as cursor, cursor.copy(COPY) as copy:
        for values in rows:
            copy.write_row(values)
