"""Write a backup of the embedded stores (Postgres, objects, secret) to one file, while the farm runs or not.

Stores that the settings name (`DATABASE_URL`, `S3_BUCKET`) are not part of it: use the tools of those servers. Redis holds nothing
that must be kept. Whoever can read the file can sign in to the farm: keep it safe.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cluster.backups import writer
from cluster.backups.progress import progress_bar
from farm_core.cli import data_folder
from farm_core.user_error import UserError


class CannotBackUp(UserError):
    """This farm has no embedded stores to back up."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and the data folder."""
    parser.add_argument("file", type=Path, help="file to write, for example farm-backup.tar")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "--incomplete", action="store_true", help="write the backup although objects are missing; it ends with status 1"
    )
    data_folder.add_data_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the backup. Raises UserError."""
    chosen, target = data_folder.settings_of(arguments), arguments.file.resolve()
    data = chosen.data_folder.resolve()
    if chosen.database_url is not None:
        raise CannotBackUp(
            "DATABASE_URL names a server of your own: back it up with pg_dump, and its objects separately"
        )
    if target.is_dir():
        raise CannotBackUp(f"{target} is a folder; name a file in it, such as {target / 'farm-backup.tar'}")
    if target.exists() and not arguments.force:
        raise CannotBackUp(f"{target} exists; choose another name or pass --force")
    if not target.parent.is_dir():
        raise CannotBackUp(f"the folder {target.parent} does not exist")
    if not (data / "postgres").exists():
        raise CannotBackUp(f"{data} holds no farm; name its folder with --data")
    with arguments.embedded_database(data) as url, progress_bar("backing up") as progress:
        missing = [] if chosen.s3_bucket is not None else writer.missing_objects(data, url)
        if missing and not arguments.incomplete:
            raise CannotBackUp(
                f"{_named(missing)} not in {data / 'storage'}: is its whole disk mounted? "
                "If they are lost, write the rest with --incomplete"
            )
        manifest = writer.write(data, url, target, progress)
    print(f"{target}: {manifest.object_count} objects, {target.stat().st_size / 1e6:.1f} MB")
    if chosen.s3_bucket is not None:
        print("The objects are in the bucket of S3_BUCKET and not in this file: back up the bucket as well.")
    if missing:
        print(f"The backup is incomplete: {_named(missing)} missing.", file=sys.stderr)
    return 1 if missing else 0


def _named(keys: Sequence[str]) -> str:
    """Return the number of keys, the first three, and the verb."""
    first = ", ".join(keys[:3]) + (", ..." if len(keys) > 3 else "")
    return f"{len(keys)} object{'s' if len(keys) > 1 else ''} that the database names ({first}) {'are' if len(keys) > 1 else 'is'}"
