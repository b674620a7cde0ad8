"""Restore a backup into a data folder on which no farm runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import psycopg

from cluster.backups import archive as layout
from cluster.backups.writer import Progress
from cluster.embedded import postgres
from farm_core import scratch
from farm_core.audit.log import record
from farm_core.cli.acting import command_line_actor
from farm_core.db import migrate, schema
from farm_core.db.database import Database
from farm_core.interruption import deferred_signals
from farm_core.user_error import UserError


class RestoreFailed(UserError):
    """The backup could not be restored. The data folder is unchanged, or the message names its new path."""


def restore(source: Path, data_folder: Path, progress: Progress) -> tuple[layout.Manifest, Path | None]:
    """Restore a backup. Return its manifest and the new path of the former data folder, or None if there was none.

    The backup is unpacked beside the data folder. It replaces the data folder only after every step has succeeded.
    Raises BadBackup or RestoreFailed.
    """
    data_folder.parent.mkdir(parents=True, exist_ok=True)
    is_new = not data_folder.exists()
    with scratch.beside(data_folder) as parent:
        folder = parent / data_folder.name
        folder.mkdir(mode=0o700)
        manifest = unpack(source, folder, progress)
        check_schema(manifest)
        _restore_database(folder, source, manifest)
        os.sync()  # a power loss could otherwise leave empty objects after the backup was deleted
        former = None if is_new else _move_away(data_folder)
        try:
            folder.rename(data_folder)
        except OSError as error:  # for example, another farm has started on the folder
            raise RestoreFailed(f"{data_folder} cannot be made: {error}{_moved_back(former, data_folder)}") from error
    return manifest, former


def unpack(source: Path, folder: Path, progress: Progress) -> layout.Manifest:
    """Unpack a backup into the folder. Raises BadBackup."""
    try:
        with source.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as archive:
            manifest = layout.read_manifest(archive)
            done = 0
            for member in archive:
                _extract(archive, member, folder)
                done += member.size
                progress(min(done, manifest.object_bytes), manifest.object_bytes)
            file.seek(archive.offset)
            is_whole = layout.is_end(file)
    except tarfile.ReadError as error:
        raise layout.BadBackup(f"{source} is no backup of a farm, or damaged: {error}") from error
    except (tarfile.TarError, OSError) as error:
        raise layout.BadBackup(f"{source} cannot be restored: {error}") from error
    if not is_whole:
        raise layout.BadBackup(f"{source} is damaged or cut off after {done / 1e6:.1f} MB: it has no proper end")
    if not (folder / layout.DUMP).exists():
        raise layout.BadBackup(f"{source} is cut off: it holds no database")
    if _object_count(folder) > manifest.object_count:
        raise layout.BadBackup(f"{source} holds more objects than its manifest says")
    return manifest


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    top = PurePosixPath(member.name).parts[:1]
    if top not in {(name,) for name in (layout.MANIFEST, layout.DUMP, layout.SECRET, layout.STORAGE)}:
        raise layout.BadBackup(f"the backup holds {member.name!r}, which no backup has")
    if ".." in PurePosixPath(member.name).parts or not (member.isfile() or member.isdir()):
        raise layout.BadBackup(f"the backup holds {member.name!r}, which is no plain file or folder")
    # Python 3.11.2 (Debian 12) has neither the filter nor the `filter` argument.
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extract(member, folder)


def _object_count(folder: Path) -> int:
    return sum(path.is_file() for path in (folder / layout.STORAGE).rglob("*"))


def check_schema(manifest: layout.Manifest) -> None:
    """Raise RestoreFailed for a backup of a newer version."""
    if manifest.schema > schema.newest():
        raise RestoreFailed(
            f"the backup was written by a newer version of the farm (schema {manifest.schema}, here {schema.newest()}); update first"
        )


def _move_away(data_folder: Path) -> Path:
    former = data_folder.with_name(f"{data_folder.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    return data_folder.rename(former)


def _moved_back(former: Path | None, data_folder: Path) -> str:
    """Move the former data folder back. Return the end of a message that says where the folder is if its place is taken."""
    if former is None:
        return ""
    try:
        former.rename(data_folder)
    except OSError:
        return f". The former data folder is {former}"
    return ""


def _restore_database(folder: Path, source: Path, manifest: layout.Manifest) -> None:
    dump = folder / layout.DUMP
    with _server(folder / "postgres") as url:
        load_database(url, dump, source, manifest)
    dump.unlink()
    (folder / layout.MANIFEST).unlink()


def load_database(url: str, dump: Path, source: Path, manifest: layout.Manifest) -> None:
    """Load the backup's dump into an empty database, run the migrations, and add an entry to the audit log.

    An interrupted restore leaves the database empty. A partial one would have rows without indexes and triggers.
    Raises RestoreFailed.
    """
    command = [postgres.binary("pg_restore"), "--no-owner", "--single-transaction", f"--dbname={url}", str(dump)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RestoreFailed(f"the database could not be restored: {done.stderr.strip()}")
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    asyncio.run(_record(url, source, manifest))


async def _record(url: str, source: Path, manifest: layout.Manifest) -> None:
    """Record the restore in the audit log, which comes from the backup and would otherwise show only a gap."""
    database = Database(url, pool_connections=2)
    try:
        async with database.work() as session:
            detail = {"as_of": manifest.created_at, "objects": manifest.object_count}
            await record(session, command_line_actor(), "restore", f"backup {source.name}", detail)
    finally:
        await database.close()


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    server = postgres.start(folder, adopt=False)
    try:
        yield server.url
    finally:
        with deferred_signals():
            server.stop()
