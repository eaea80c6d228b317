"""The engine against the documents and the contract: what it is measured by is written here anew, never imported."""

import os
import subprocess
import sys

from taisai_backoffice.embedded.home import PROJECT

#: An address that nobody answers: the commands of the engine touch no database.
NO_DATABASE = "postgresql://nobody:nothing@127.0.0.1:1/nothing"


def command(*arguments: str, given: bytes = b"") -> "subprocess.CompletedProcess[str]":
    """A command as a person starts it, and what it said; `given` is its standard input."""
    done = subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        env=os.environ | {"DATABASE_URL": NO_DATABASE}, input=given, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
