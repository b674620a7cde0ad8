"""Restore a backup of the embedded stores into a cluster's stores: an empty database and a bucket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg

from cluster.backups import archive as layout
from cluster.backups import reader
from cluster.backups.writer import Progress
from farm_core.db.urls import libpq_url
from farm_core.scratch import Scratch
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import Storage


class NotEmpty(reader.RestoreFailed):
    """The database has tables already."""


def restore_to_stores(source: Path, database_url: str, storage: Storage, progress: Progress) -> layout.Manifest:
    """Copy the objects to the storage, then load the database that refers to them. Raises BadBackup or RestoreFailed.

    The backup is unpacked in the temporary folder (`TMPDIR`). A failed restore can be repeated.
    """
    url = libpq_url(database_url)
    _check_empty(url)
    with Scratch("restore") as folder:
        manifest = reader.unpack(source, folder, _half(progress, first=True))
        reader.check_schema(manifest)
        _copy_objects(folder, storage, manifest.object_bytes, _half(progress, first=False))
        reader.load_database(url, folder / layout.DUMP, source, manifest)
    return manifest


def _check_empty(url: str) -> None:
    with psycopg.connect(url, connect_timeout=5) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    if tables is None or tables[0]:
        raise NotEmpty("the database that DATABASE_URL names has tables already; create an empty one")


def _copy_objects(folder: Path, storage: Storage, size: int, progress: Progress) -> None:
    local, done = LocalStorage(folder / layout.STORAGE, Links(b"")), 0
    for stored in local.listed(""):
        path = folder / layout.STORAGE / "objects" / stored.key
        storage.put_file(stored.key, path, stored.content_type)
        done += path.stat().st_size
        progress(min(done, size), size)


def _half(progress: Progress, *, first: bool) -> Callable[[int, int], None]:
    """Return a callback that fills the first or the second half of the progress bar."""
    return lambda done, total: progress(done if first else total + done, 2 * total)
