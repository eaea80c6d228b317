"""Questions to the machine: which port is free, and whether a process is really our server."""

import socket
from pathlib import Path

import psutil


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def live_process(pid: str, name: str, folder: Path) -> psutil.Process | None:
    """Return the process of a pid file, unless it ended or its number now belongs to another program or home."""
    try:
        process = psutil.Process(int(pid))
        alive = process.status() != psutil.STATUS_ZOMBIE and process.name().startswith(name)
        alive = alive and Path(process.cwd()) == folder.resolve()
    except (ValueError, psutil.Error):
        return None
    return process if alive else None
