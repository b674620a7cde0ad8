"""Restore a backup into a data folder on which no farm runs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
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
from farm_core.db import migrate
from farm_core.db.database import Database
from farm_core.failure import Failure

Server = Callable[[], postgres.EmbeddedPostgres]


class RestoreFailed(Failure):
    """The backup could not be restored; the data folder is as it was."""


def restore(source: Path, data_folder: Path, progress: Progress) -> tuple[layout.Manifest, Path | None]:
    """Restore a backup and return its manifest and where the former data folder was moved, if there was one.

    The backup is restored to a new folder beside the data folder, which takes its place only when everything has worked.
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
        os.sync()  # a loss of power would leave objects empty, with the backup perhaps deleted by then
        former = None if is_new else _move_away(data_folder)
        try:
            folder.rename(data_folder)
        except OSError as error:  # a farm has begun there meanwhile, say
            raise RestoreFailed(f"{data_folder} cannot be made: {error}") from error
    return manifest, former


def unpack(source: Path, folder: Path, progress: Progress) -> layout.Manifest:
    """Unpack a backup into the folder. Raises BadBackup."""
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = layout.read_manifest(archive)
            done = 0
            for member in archive:
                _extract(archive, member, folder)
                done += member.size
                progress(min(done, manifest.object_bytes), manifest.object_bytes)
    except tarfile.ReadError as error:
        raise layout.BadBackup(f"{source} is no backup of a farm, or damaged: {error}") from error
    except (tarfile.TarError, OSError) as error:
        raise layout.BadBackup(f"{source} cannot be restored: {error}") from error
    if not (folder / layout.DUMP).exists():
        raise layout.BadBackup(f"{source} is cut off: it holds no database")
    if _object_count(folder) > manifest.object_count:
        raise layout.BadBackup(f"{source} holds more objects than its manifest says")
    return manifest


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    top = PurePosixPath(member.name).parts[0]
    if top not in {layout.MANIFEST, layout.DUMP, layout.SECRET, layout.STORAGE}:
        raise layout.BadBackup(f"the backup holds {member.name!r}, which no backup has")
    if ".." in PurePosixPath(member.name).parts or not (member.isfile() or member.isdir()):
        raise layout.BadBackup(f"the backup holds {member.name!r}, which is no plain file or folder")
    # Python 3.11.2, which Debian 12 has, knows neither the filter nor the argument that names it.
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extract(member, folder)


def _object_count(folder: Path) -> int:
    return sum(path.is_file() for path in (folder / layout.STORAGE).rglob("*"))


def check_schema(manifest: layout.Manifest) -> None:
    """Raise RestoreFailed for a backup of a newer version."""
    if manifest.schema > migrate.head():
        raise RestoreFailed(
            f"the backup was written by a newer version of the farm (schema {manifest.schema}, here {migrate.head()}); update first"
        )


def _move_away(data_folder: Path) -> Path:
    former = data_folder.with_name(f"{data_folder.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    return data_folder.rename(former)


def _restore_database(folder: Path, source: Path, manifest: layout.Manifest) -> None:
    dump = folder / layout.DUMP
    with _server(folder / "postgres") as url:
        load_database(url, dump, source, manifest)
    dump.unlink()
    (folder / layout.MANIFEST).unlink()


def load_database(url: str, dump: Path, source: Path, manifest: layout.Manifest) -> None:
    """Load the dump of the backup `source` into an empty database, bring it up to date, and say so in the audit log.

    A restore that is cut off leaves the database empty: without its last statements it has rows, but no index and no trigger.
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
    """The log is the backup's own: without this entry it would end at the backup and go on after the restore."""
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
        server.stop()
