"""Restore a backup that `./farm backup` wrote. The farm must not run on the data folder.

An existing data folder is moved aside when everything has worked, never deleted. With `--to-stores` the backup goes to the
stores that the settings name: an empty database at `DATABASE_URL`, and `S3_BUCKET`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.backups import reader
from cluster.backups.progress import progress_bar
from cluster.backups.to_stores import restore_to_stores
from cluster.local.farm import lock_folder
from farm_core.cli import data_folder
from farm_core.settings import Settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links
from farm_core.user_error import UserError


class CannotRestore(UserError):
    """This backup cannot be restored here."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and the data folder."""
    parser.add_argument("file", type=Path, help="backup to restore")
    parser.add_argument("--replace", action="store_true", help="move an existing data folder aside")
    parser.add_argument("--to-stores", action="store_true", help="restore into DATABASE_URL and S3_BUCKET")
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Restore the backup. Raises UserError."""
    chosen, source = data_folder.settings_of(arguments), arguments.file.resolve()
    data = chosen.data_folder.resolve()
    if not source.is_file():
        raise CannotRestore(f"{source} does not exist")
    if arguments.to_stores:
        return _to_stores(source, chosen)
    if chosen.database_url is not None:
        raise CannotRestore("DATABASE_URL names a server of your own; --to-stores restores into it")
    with _reserved(data, replace=arguments.replace), progress_bar("restoring") as progress:
        manifest, former = reader.restore(source, data, progress)
    print(f"{data}: {manifest.object_count} objects, as of {manifest.created_at}")
    if former is not None:
        print(f"The former data folder is {former}; delete it when the farm works.")
    return 0


def _to_stores(source: Path, chosen: Settings) -> int:
    if chosen.database_url is None or chosen.s3_bucket is None:
        raise CannotRestore("--to-stores needs DATABASE_URL and S3_BUCKET")
    storage = storage_of(chosen, Links(b""))  # S3 signs its own links, so no secret is needed
    with progress_bar("restoring") as progress:
        manifest = restore_to_stores(source, chosen.database_url, storage, progress)
    print(f"{chosen.s3_bucket}: {manifest.object_count} objects, as of {manifest.created_at}")
    return 0


@contextmanager
def _reserved(data: Path, *, replace: bool) -> Iterator[None]:
    """Lock an existing data folder until it has been moved aside. Raises if a farm runs there or `replace` is False."""
    if not data.exists():
        yield
        return
    lock = lock_folder(data)
    try:
        if any(path.name != "up.lock" for path in data.iterdir()) and not replace:
            raise CannotRestore(f"{data} exists; pass --replace to move it aside, or name another folder with --data")
        yield
    finally:
        os.close(lock)
