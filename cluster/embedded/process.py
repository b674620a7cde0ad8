"""Server processes that end with their parent process, even after `kill -9`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from farm_core.user_error import UserError

START_SECONDS = 60.0
STOP_SECONDS = 20.0


class ServerFailed(UserError):
    """An embedded server did not start. The message contains the end of its log."""


class ServerEnded(ServerFailed):
    """The server exited without a signal."""


def spawn(
    command: Sequence[str], log_path: Path, death_signal: str, user: str | None = None, folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a server in a new session and append its output to the log.

    The kernel sends `death_signal` to the server when its parent dies, so `kill -9` of the parent leaves nothing running.
    The parent is the calling *thread*: call this from one that outlives the server. The server runs as the system user
    `user`, without capabilities. `folder` is its working directory; the user needs no access to the folders above it.
    """
    with log_path.open("ab") as log:
        return subprocess.Popen(  # noqa: S603
            [*_prefix(death_signal, user), *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def dying_with(death_signal: str) -> list[str]:
    """Return a prefix of a command that sends it `death_signal` when its parent dies, or nothing without setpriv."""
    return _prefix(death_signal, None)


def as_user(command: Sequence[str], user: str | None) -> list[str]:
    """Return the command, changed to run as the user, for programs that refuse to run as root."""
    return [*_prefix(None, user), *command]


def _prefix(death_signal: str | None, user: str | None) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        if user is not None:
            raise ServerFailed("Postgres cannot run as root, and setpriv is missing: install the package util-linux")
        return []
    words = [setpriv]
    if user is not None:
        words += [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
    if death_signal is not None:
        words += ["--pdeathsig", death_signal]
    return [*words, "--"] if len(words) > 1 else []


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log_path: Path) -> None:
    """Wait until `ready` returns True. Raises ServerFailed if time runs out or the process ends first (ServerEnded)."""
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if process.poll() is not None:
            kind = ServerEnded if process.returncode > 0 else ServerFailed
            raise kind(f"{process.args!s} ended with status {process.returncode}:\n{tail(log_path)}")
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise ServerFailed(f"{process.args!s} was not ready after {START_SECONDS} s:\n{tail(log_path)}")
        time.sleep(0.02)


def end(process: subprocess.Popen[bytes], stop_signal: signal.Signals) -> None:
    """Stop the process with the signal, then with SIGKILL if it does not end in time."""
    if process.poll() is not None:
        return
    process.send_signal(stop_signal)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def tail(log_path: Path) -> str:
    """Return the last 20 lines of a log."""
    return "\n".join(log_path.read_text(errors="replace").splitlines()[-20:])
