"""Calls that happen at once, each in a thread and a connection of its own."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction

from games.models import Table
from tests.patience import wait_for


def at_once(*calls: Callable[[], Any], waiting: int | None = None) -> list[Any]:
    """What each call returned or raised. All of them, or so many, come to a locked table and are let in together."""
    with ThreadPoolExecutor(len(calls)) as pool:
        with transaction.atomic():
            list(Table.objects.select_for_update().order_by("pk"))
            futures = [pool.submit(_answer, call) for call in calls]
            wait_until_waiting(len(calls) if waiting is None else waiting)
        return [future.result(60) for future in futures]


@contextmanager
def meanwhile(call: Callable[[], Any]) -> Iterator[Future[Any]]:
    """The call runs while the block does, and waits for it at least once before the block's transaction ends."""
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        future: Future[Any]
        yield (future := Future())
        started = pool.submit(_answer, call)
        started.add_done_callback(lambda done: future.set_result(done.result()))
        wait_until_waiting(1)


def elsewhere(call: Callable[[], Any]) -> Any:
    """What a call returns or raises in another session, while this one waits for it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_answer, call).result(60)


def wait_until_waiting(count: int) -> None:
    """So many sessions of this database wait for a lock. Asked outside the transaction, which sees one moment only."""
    own = connection.copy()

    def are_waiting() -> bool:
        with own.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return bool(cursor.fetchone()[0] >= count)

    try:
        wait_for(are_waiting, f"there are not {count} sessions that wait", seconds=20)
    finally:
        own.close()


def _answer(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error
    finally:
        connections.close_all()
