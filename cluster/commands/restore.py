"""Restore a backup that `./farm backup` wrote. The farm must not run on the data folder.

An existing data folder is moved aside, never deleted. It is put back if the restore fails.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from cluster.backups import reader
from cluster.backups.screen import progress_bar
from cluster.local.farm import lock_folder
from farm_core.cli import data_folder
from farm_core.failure import Failure


class CannotRestore(Failure):
    """This backup cannot be restored here."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and the data folder."""
    parser.add_argument("file", type=Path, help="backup to restore")
    parser.add_argument("--replace", action="store_true", help="move an existing data folder aside")
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Restore the backup. Raises Failure."""
    chosen, source = data_folder.settings_of(arguments), arguments.file.resolve()
    data = chosen.data_folder.resolve()
    if chosen.database_url is not None:
        raise CannotRestore("DATABASE_URL names a server of your own; this command restores the embedded stores only")
    if not source.is_file():
        raise CannotRestore(f"{source} does not exist")
    if data.exists():
        _check_free(data, replace=arguments.replace)
    with progress_bar("restoring") as progress:
        manifest, former = reader.restore(source, data, progress)
    print(f"{data}: {manifest.object_count} objects, as of {manifest.created_at}")
    if former is not None:
        print(f"The former data folder is {former}; delete it when the farm works.")
    return 0


def _check_free(data: Path, *, replace: bool) -> None:
    """Raise unless no farm runs on the folder and the caller agreed to move it aside."""
    os.close(lock_folder(data))
    if any(path.name != "up.lock" for path in data.iterdir()) and not replace:
        raise CannotRestore(f"{data} exists; pass --replace to move it aside, or name another folder with --data")
