"""Share a server: each user holds a lease, the first one starts it, the last one stops it.

A lease is a shared lock on a file, so the kernel releases it even when its holder is killed.
"""

import atexit
import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO, Any, Protocol

from taisai_backoffice.embedded.home import Home


class EmbeddedServer(Protocol):
    name: str
    home: Home

    def start(self) -> None: ...
    def stop(self) -> None: ...


class Lease:
    """A share in one running server, from `take` to `give_back`."""

    def __init__(self, server: EmbeddedServer, users: IO[Any]) -> None:
        self.server = server
        self._users = users
        self._holder = os.getpid()

    @classmethod
    def take(cls, server: EmbeddedServer, prepare: Callable[[], None] = lambda: None) -> "Lease":
        """Start the server if it is not running, prepare it, and keep it running from now on."""
        with _starting_or_stopping(server):
            users = (server.home.folder("locks") / f"{server.name}.users").open("w")
            fcntl.flock(users, fcntl.LOCK_SH)
            lease = cls(server, users)
            try:
                server.start()
                prepare()
            except BaseException:
                lease._stop_if_last()
                raise
            return lease

    def give_back(self) -> None:
        """Stop the server if no one else holds a lease. A forked child cannot stop it."""
        if not self._users.closed and os.getpid() == self._holder:
            with _starting_or_stopping(self.server):
                self._stop_if_last()

    def _stop_if_last(self) -> None:
        try:
            fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            self.server.stop()
        finally:
            self._users.close()

    def give_back_at_exit(self) -> None:
        atexit.register(self._give_back_undisturbed)

    def _give_back_undisturbed(self) -> None:
        """Give back the lease, ignoring Ctrl-C, which would leave a server running."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.give_back()


def end_on_signals() -> None:
    """Make a terminated command, or one whose terminal closes, release its lease."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _leave)


@contextmanager
def _starting_or_stopping(server: EmbeddedServer) -> Iterator[None]:
    """Let one process at a time start or stop a server."""
    with (server.home.folder("locks") / f"{server.name}.gate").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
