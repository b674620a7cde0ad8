"""Layout of a backup archive: an uncompressed tar file whose first member is the manifest.

manifest.json     format, time of creation, schema revision, object count
database.dump     output of `pg_dump` in its custom format (compressed)
jwt-secret        key of session tokens and file links, absent if the settings hold it
storage/...       objects and their content types, laid out as in `farm_core.storage.local`; absent with S3
"""

from __future__ import annotations

import io
import json
import tarfile
from dataclasses import asdict, dataclass
from typing import BinaryIO, Final

from farm_core.user_error import UserError

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
SECRET: Final = "jwt-secret"  # noqa: S105 - a file name
STORAGE: Final = "storage"
STORED: Final = ("objects", "types")
"""Folders of the local storage that a backup contains. Partial files are left out."""

_END_BYTES: Final = range(2 * tarfile.BLOCKSIZE, 2 * tarfile.BLOCKSIZE + tarfile.RECORDSIZE)
"""Sizes of an archive's end: two empty blocks, and more up to a full record."""


class BadBackup(UserError):
    """The file is not a backup that this version can restore."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """First member of an archive. `schema` is the newest migration that the database has run."""

    format: int
    created_at: str
    schema: str
    object_count: int
    object_bytes: int


def add_bytes(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    """Add a member that only its owner can read."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    archive.addfile(member, io.BytesIO(data))


def add_manifest(archive: tarfile.TarFile, manifest: Manifest) -> None:
    """Add the manifest. Call this before any other member is added."""
    add_bytes(archive, MANIFEST, json.dumps(asdict(manifest), indent=2).encode())


def read_manifest(archive: tarfile.TarFile) -> Manifest:
    """Return the manifest of an archive opened for reading. Raises BadBackup."""
    first = archive.next()
    content = archive.extractfile(first) if first is not None and first.name == MANIFEST else None
    if content is None:
        raise BadBackup("this file is not a backup: it has no manifest")
    try:
        manifest = Manifest(**json.loads(content.read()))
    except (ValueError, TypeError) as error:
        raise BadBackup(f"the backup's manifest cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise BadBackup(f"the backup has format {manifest.format}; this version restores format {FORMAT}")
    return manifest


def is_end(rest: BinaryIO) -> bool:
    """Return True if the rest of the file is the end of an archive. `tarfile` also ends, without an error, where a header is damaged or
    missing, or where a hole of the file begins."""
    end = rest.read(_END_BYTES.stop)
    return len(end) in _END_BYTES and not any(end) and rest.tell() % tarfile.RECORDSIZE == 0
