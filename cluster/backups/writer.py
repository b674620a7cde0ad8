"""Write a backup while the farm runs.

The database is dumped first, in one snapshot. Objects are immutable and are written before the rows that refer to them.
Every object in the dump therefore exists when its file is copied, unless it has expired meanwhile.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg

from cluster.backups import archive as layout
from cluster.embedded import postgres
from farm_core import scratch
from farm_core.power_loss import sync_file, sync_folder
from farm_core.user_error import UserError

_OBJECTS: Final = "SELECT DISTINCT key FROM object_charges WHERE key !~ '^(presets|inputs|batches)/'"
"""Keys of the stored files. Objects with these prefixes are in the database instead."""

Progress = Callable[[int, int], None]
"""Callback with the bytes copied and the total bytes."""


class BackupFailed(UserError):
    """The backup could not be written."""


def missing_objects(data_folder: Path, database_url: str) -> list[str]:
    """Return the keys of objects that count against accounts and are not in the data folder."""
    objects = data_folder / layout.STORAGE / "objects"
    with psycopg.connect(database_url, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('object_charges')").fetchone() == (None,):
            return []  # the schema of an older release
        missing = [key for (key,) in connection.execute(_OBJECTS) if not (objects / key).is_file()]
        # Ask again: an object that expired since the first query is not missing.
        named = connection.execute(f"{_OBJECTS} AND key = ANY(%s) ORDER BY key", [missing])
        return [key for (key,) in named]


def write(data_folder: Path, database_url: str, target: Path, progress: Progress) -> layout.Manifest:
    """Write a backup of the data folder. `target` appears only when it is complete. Raises BackupFailed."""
    with scratch.beside(target) as folder:
        dump = folder / layout.DUMP
        _dump(database_url, dump)
        files = _stored_files(data_folder / layout.STORAGE)
        manifest = _manifest(database_url, files)
        draft = folder / target.name
        draft.touch(mode=0o600)
        with tarfile.open(draft, "w") as archive:
            layout.add_manifest(archive, manifest)
            archive.add(dump, layout.DUMP)
            _add_secret(archive, data_folder / layout.SECRET)
            _add_objects(archive, data_folder, files, progress)
        with draft.open("rb") as written:
            sync_file(written)
        draft.replace(target)
        sync_folder(target.parent)
    return manifest


def _dump(database_url: str, target: Path) -> None:
    command = [postgres.binary("pg_dump"), "--format=custom", "--no-owner", f"--file={target}", database_url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise BackupFailed(f"the database could not be dumped: {done.stderr.strip()}")


def _stored_files(storage: Path) -> list[tuple[Path, int]]:
    """Return the files of the local storage with their sizes in bytes, sorted by name."""
    found = []
    for path in sorted(path for part in layout.STORED for path in (storage / part).rglob("*")):
        with _expired_is_fine():
            if path.is_file():
                found.append((path, path.stat().st_size))
    return found


def _manifest(database_url: str, files: list[tuple[Path, int]]) -> layout.Manifest:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is None:
        raise BackupFailed("the database has no schema; start the farm once")
    size = sum(size for _, size in files)
    return layout.Manifest(layout.FORMAT, datetime.now(UTC).isoformat(), row[0], len(files), size)


def _add_secret(archive: tarfile.TarFile, path: Path) -> None:
    if path.exists():
        layout.add_bytes(archive, layout.SECRET, path.read_bytes())


def _add_objects(
    archive: tarfile.TarFile, data_folder: Path, files: list[tuple[Path, int]], progress: Progress
) -> None:
    total, done = sum(size for _, size in files), 0
    for path, size in files:
        with _expired_is_fine():
            archive.add(path, path.relative_to(data_folder).as_posix(), recursive=False)
        done += size
        progress(done, total)


@contextmanager
def _expired_is_fine() -> Iterator[None]:
    """Ignore a missing file: its object has expired since the folder was listed."""
    try:
        yield
    except FileNotFoundError:
        return
