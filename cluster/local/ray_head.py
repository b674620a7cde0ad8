"""A private Ray cluster of one node, with its own folder and access token and without telemetry."""

from __future__ import annotations

import contextlib
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
from farm_core.user_error import UserError

TEMPORARY_PATH_MAX: Final = 30
"""Maximum bytes of a temporary folder's path. A socket's path below it can have 107."""

_LINK: Final = "environment"


class NoLoopback(UserError):
    """This machine has no IPv4 loopback address."""


@dataclass(frozen=True, slots=True)
class RayHead:
    """Address of the cluster, folder of its workers' logs, and environment of its processes."""

    address: str
    logs: Path
    environment: dict[str, str]
    part: ProcessPart


def ray_head(data: Path, environment: dict[str, str], cores: int, log_path: Path) -> RayHead:
    """Return a head that is not started yet. Raises NoLoopback. Its start raises ServerFailed if another user owns its folder."""
    folder = _folder(data)
    token_path = data / "ray-token"
    if not token_path.exists() or not token_path.stat().st_size:  # a kill or a power loss can leave it empty
        token_path.touch(mode=0o600)
        token_path.write_text(secrets.token_hex(32))
    port = free_port()
    ray_environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token_path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DEDUP_LOGS": "0",
        # An idle Ray logs 120 MB a day to the temporary folder. By default it keeps six files of 512 MB of each log.
        "RAY_ROTATION_MAX_BYTES": "20000000",
        "RAY_ROTATION_BACKUP_COUNT": "1",
        "RAY_enable_metrics_collection": "0",
        "PYTHONSAFEPATH": "1",  # a worker's program is a script, whose folder has modules of other names
        "RAY_preload_python_modules": "cluster.worker.preloaded",
        "RAY_worker_niceness": "0",  # workers set their own niceness, lower than Ray's default
        # A single-machine cluster: only then does Ray listen on 127.0.0.1 alone.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }
    command = [
        _python(folder.parent), "-m", "cluster.local.ray_node", f"--port={port}", f"--folder={folder}", f"--cores={cores}",
        f"--store={shared_memory.SYSTEM if shared_memory.is_fit() else folder.parent}",
    ]  # fmt: skip
    # Workers inherit this. They have many threads that allocate little, and an arena for each would waste memory.
    # They draw the documents of strangers, and need neither the database nor the key of session tokens.
    inherited = {**environment, **ray_environment, "MALLOC_ARENA_MAX": "2", "DATABASE_URL": "", "JWT_SECRET": ""}
    part = ProcessPart(
        "ray", command, inherited, log_path, stop_seconds=1, death_signal="TERM", sweep=lambda: _sweep(folder),
        prepare=lambda: _prepare(folder.parent),
    )  # fmt: skip
    return RayHead(f"127.0.0.1:{port}", folder / "session_latest" / "logs", ray_environment, part)


def free_port() -> int:
    """Return a free port, which the kernel gives to no other program for a minute. Raises NoLoopback."""
    _check_loopback()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            # The side that closes first stays in TIME_WAIT: only programs that name the port can listen on it.
            server.accept()[0].close()
        return port


def _check_loopback() -> None:
    """Raise NoLoopback unless 127.0.0.1 can send datagrams to itself."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("127.0.0.1", 0))
            probe.connect(probe.getsockname())  # binding alone also works while the interface is down
        except OSError as error:
            raise NoLoopback(
                f"the parts of the farm talk over 127.0.0.1, which cannot be used: {error.strerror}. "
                "Bring it up and start again: sudo ip address add 127.0.0.1/8 dev lo; sudo ip link set lo up"
            ) from error


def _folder(data: Path) -> Path:
    """Return Ray's folder. Its path is short, because Ray creates sockets below it."""
    name = f"ray-{hashlib.sha256(f'{os.geteuid()} {data}'.encode()).hexdigest()[:10]}"
    temporary = Path(tempfile.gettempdir())
    parent = (temporary if len(str(temporary)) <= TEMPORARY_PATH_MAX else Path("/tmp")) / name  # noqa: S108
    return parent / "ray"


def _prepare(parent: Path) -> None:
    """Create the folder, accessible only to this user: Ray makes its folder inside world-writable. Raises ServerFailed."""
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
    """Return the path of this Python, or of a link to it if the path has spaces: Ray does not quote paths in shells."""
    if not _needs_link():
        return sys.executable
    return str(parent / _LINK / Path(sys.executable).relative_to(sys.prefix))


def _needs_link() -> bool:
    return shlex.quote(sys.executable) != sys.executable


def _sweep(folder: Path) -> None:
    """Kill the servers of a killed head, which end its workers too. Remove the folder and its parent."""
    left = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if process.pid != os.getpid() and any(str(folder) in word for word in words):
            left += [process, *_children(process)]
    for process in left:
        with contextlib.suppress(psutil.Error):  # it has ended, or another user only reads the folder
            process.kill()
    psutil.wait_procs(left, timeout=5)
    if folder.parent.is_dir() and folder.parent.lstat().st_uid == os.geteuid():
        shutil.rmtree(folder.parent, ignore_errors=True)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
