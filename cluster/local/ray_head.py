"""A Ray cluster of one node, for this farm alone: its own folder, a token that others do not have, no telemetry."""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
import socket
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from cluster.embedded import shared_memory
from cluster.embedded.process import ServerFailed
from cluster.local.parts import ProcessPart
from farm_core.failure import Failure

TEMPORARY_PATH_MAX: Final = 30
"""Bytes of a temporary folder's path that leave room for the names of Ray's sockets (107 in all)."""

_LINK: Final = "environment"


class NoLoopback(Failure):
    """This machine has no IPv4 loopback address."""


@dataclass(frozen=True, slots=True)
class RayHead:
    """Address of the cluster, the folder with the logs of its workers, and the environment of its members."""

    address: str
    logs: Path
    environment: dict[str, str]
    part: ProcessPart


def ray_head(data: Path, environment: dict[str, str], cores: int, log_path: Path) -> RayHead:
    """A head that is not started yet. Raises NoLoopback. Its start raises ServerFailed if somebody else holds its folder."""
    folder = _folder(data)
    token_path = data / "ray-token"
    if not token_path.exists() or not token_path.stat().st_size:  # a kill or a loss of power can leave it empty
        token_path.touch(mode=0o600)
        token_path.write_text(secrets.token_hex(32))
    port = free_port()
    ray_environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token_path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DEDUP_LOGS": "0",
        # Ray writes 120 MB a day into the temporary folder while nothing is rendered. It would keep six files of 512 MB of each log.
        "RAY_ROTATION_MAX_BYTES": "20000000",
        "RAY_ROTATION_BACKUP_COUNT": "1",
        "RAY_enable_metrics_collection": "0",
        "RAY_agent_register_timeout_ms": "100000",  # as long as the farm waits to be ready
        "RAY_worker_niceness": "0",  # workers give way by themselves, by less than Ray would have them
        # A cluster that never has another machine: only then does Ray leave the node at 127.0.0.1 and listen there alone.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }
    command = [
        _python(folder.parent), "-m", "cluster.local.ray_node", f"--port={port}", f"--folder={folder}", f"--cores={cores}",
        f"--store={shared_memory.SYSTEM if shared_memory.is_fit() else folder.parent}",
    ]  # fmt: skip
    # Workers inherit it. Their threads are many and allocate little: arenas of their own would only keep memory.
    inherited = {**environment, **ray_environment, "MALLOC_ARENA_MAX": "2"}
    part = ProcessPart(
        "ray", command, inherited, log_path, stop_seconds=1, death_signal="TERM", sweep=lambda: _sweep(folder),
        prepare=lambda: _prepare(folder.parent),
    )  # fmt: skip
    return RayHead(f"127.0.0.1:{port}", folder / "session_latest" / "logs", ray_environment, part)


def free_port() -> int:
    """Return a port that no program listens on now. Raises NoLoopback."""
    _check_loopback()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _check_loopback() -> None:
    """Raise NoLoopback unless a datagram could be sent from 127.0.0.1 to itself."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("127.0.0.1", 0))
            probe.connect(probe.getsockname())  # binding also works while the interface is down
        except OSError as error:
            raise NoLoopback(
                f"the parts of the farm talk over 127.0.0.1, which cannot be used: {error.strerror}. "
                "Bring it up and start again: sudo ip address add 127.0.0.1/8 dev lo; sudo ip link set lo up"
            ) from error


def _folder(data: Path) -> Path:
    """Return a short path, because Ray puts sockets below it."""
    name = f"ray-{hashlib.sha256(f'{os.geteuid()} {data}'.encode()).hexdigest()[:10]}"
    temporary = Path(tempfile.gettempdir())
    parent = (temporary if len(str(temporary)) <= TEMPORARY_PATH_MAX else Path("/tmp")) / name  # noqa: S108
    return parent / "ray"


def _prepare(parent: Path) -> None:
    """Make the folder for this user alone: Ray opens its own folder in it to everyone. Raises ServerFailed."""
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ServerFailed(f"Ray needs the folder {parent}: {error.strerror}") from error
    status = parent.lstat()
    if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
        raise ServerFailed(f"Ray needs the folder {parent}, which belongs to another user: remove it")
    parent.chmod(0o700)
    if _needs_link():
        link = parent / _LINK
        link.unlink(missing_ok=True)
        link.symlink_to(sys.prefix)


def _python(parent: Path) -> str:
    """This Python. Ray does not quote its paths in shells, so one with a space is reached through a link in the folder."""
    if not _needs_link():
        return sys.executable
    return str(parent / _LINK / Path(sys.executable).relative_to(sys.prefix))


def _needs_link() -> bool:
    return shlex.quote(sys.executable) != sys.executable


def _sweep(folder: Path) -> None:
    """Remove the folder and its parent, and kill what still runs from it: a killed head leaves its servers behind.

    Workers end with them.
    """
    left = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if process.pid != os.getpid() and any(str(folder) in word for word in words):
            left += [process, *_children(process)]
    for process in left:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(left, timeout=5)
    if folder.parent.is_dir() and folder.parent.lstat().st_uid == os.geteuid():
        shutil.rmtree(folder.parent, ignore_errors=True)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
