"""Argon2 with a limit on how many passwords are hashed at once in a process.

Without a limit, clients that guess passwords would occupy every thread of the web server with hashing. Beyond the
limit the answer is 503 at once. A hash uses one thread (Django's default of eight would take all cores) and 46 MB, as
OWASP recommends for Argon2id, with twice its passes. It runs in a thread of low priority, so that it uses only idle
cores.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TypeVar

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher


class TooManyHashesError(Exception):
    """Other passwords are being checked; `wait` says after how many seconds to try again."""

    wait = 2

    def __init__(self) -> None:
        super().__init__("Other logins are being checked right now. Try again in a few seconds.")


_slots = threading.BoundedSemaphore(settings.PASSWORD_HASHES_AT_ONCE)
_held = threading.local()


def is_full() -> bool:
    """Return whether no password could be hashed right now."""
    if _slots.acquire(blocking=False):
        _slots.release()
        return False
    return True


@contextmanager
def slot() -> Iterator[None]:
    """Hold one of the slots, or raise at once. A thread that holds one may ask again."""
    if getattr(_held, "is_held", False):
        yield
        return
    if not _slots.acquire(blocking=False):
        raise TooManyHashesError
    _held.is_held = True
    try:
        yield
    finally:
        _held.is_held = False
        _slots.release()


NICE = 10
Hash = TypeVar("Hash", str, bool)


def _lower_priority() -> None:
    """Lower the priority of this thread. Only Linux has priorities per thread; elsewhere nothing changes.

    A machine that refuses it (a filter of system calls) hashes at normal priority: an error here would refuse every
    login from then on.
    """
    if hasattr(os, "sched_getscheduler"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.PASSWORD_HASHES_AT_ONCE, "hash", _lower_priority)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked process has none of these threads


def hashed(work: Callable[[], Hash]) -> Hash:
    with slot():
        return _threads().submit(work).result()


class BoundedArgon2(Argon2PasswordHasher):
    """Hash within the limit: for login, password change, confirmation and sign-in links alike."""

    time_cost = 2
    memory_cost = 46 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return hashed(partial(super().encode, password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return hashed(partial(super().verify, password, encoded))
