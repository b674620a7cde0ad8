"""Parts of the local farm that the supervisor starts, checks and stops."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from cluster.embedded import process

REASON_MAX: Final = 400
_ERROR = re.compile(r"(Error|Exception|Failure|[Ff]ailed)\b.*\S")


class Server(Protocol):
    """A running embedded server."""

    @property
    def alive(self) -> bool:
        """Return True if the server runs."""
        ...

    def stop(self) -> None:
        """Stop the server."""
        ...


class Part(Protocol):
    """One part of the farm."""

    name: str

    def start(self) -> None:
        """Start the part. Raises ServerFailed."""
        ...

    @property
    def alive(self) -> bool:
        """Return True if the part runs."""
        ...

    @property
    def reason(self) -> str:
        """Last message of a dead part in one line, perhaps empty."""
        ...

    def stop(self) -> None:
        """Stop the part and everything that it started, within a bounded time."""
        ...


@dataclass(slots=True)
class ServerPart:
    """A part that is an embedded server, started by a function."""

    name: str
    starter: Callable[[], Server]
    server: Server | None = None

    def start(self) -> None:
        """Start the server, or adopt a running one."""
        self.server = self.starter()

    @property
    def alive(self) -> bool:
        """Return True if the server runs."""
        return self.server is not None and self.server.alive

    @property
    def reason(self) -> str:
        """Return an empty string. The start function raises an error with the reason instead."""
        return ""

    def stop(self) -> None:
        """Stop the server."""
        if self.server is not None:
            self.server.stop()


@dataclass(slots=True)
class ProcessPart:
    """A part that is a process in its own session, with its output in a log.

    `prepare` runs before each start and can raise ServerFailed. `sweep` removes files and processes of a former run.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log_path: Path
    stop_seconds: float = 30.0
    death_signal: str = "KILL"
    """Signal that the process receives when the supervisor is killed."""
    sweep: Callable[[], None] = field(default=lambda: None)
    prepare: Callable[[], None] = field(default=lambda: None)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Clean up after a killed predecessor, then start the process. Raises ServerFailed."""
        self.sweep()
        self.prepare()
        assignments = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        self.process = process.spawn(["env", *assignments, *self.command], self.log_path, self.death_signal)

    @property
    def alive(self) -> bool:
        """Return True if the process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def reason(self) -> str:
        """Return the last error line of the log, or its last line."""
        try:
            lines = [line.strip() for line in process.tail(self.log_path).splitlines() if line.strip()]
        except OSError:
            return ""
        named = [line for line in lines if _ERROR.search(line)]
        return (named or lines or [""])[-1][:REASON_MAX]

    def stop(self) -> None:
        """Send the stop signal to the process, then kill its whole session."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(self.stop_seconds)
                except subprocess.TimeoutExpired:
                    self.process.kill()
            _kill_session(self.process.pid)
            self.process.wait()
        self.sweep()


def _kill_session(leader_pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader_pid, signal.SIGKILL)
