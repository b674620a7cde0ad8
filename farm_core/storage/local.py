"""Store objects as files in a folder."""

from __future__ import annotations

import io
import mimetypes
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from farm_core.ids import new_id
from farm_core.power_loss import sync_file, sync_folder
from farm_core.storage.bounded import Bounded
from farm_core.storage.disk_space import ROOM_BYTES, check_room, is_half_of_reserve_used, reserve_in_use
from farm_core.storage.keys import checked
from farm_core.storage.links import Links
from farm_core.storage.port import ObjectMissing, StorageNearlyFull, StorageUnavailable, StoredObject

_PIECE_BYTES = 1 << 20
_DEFAULT_TYPE = "application/octet-stream"
_TYPES = mimetypes.MimeTypes()
_IDENTITY = "identity"


class LocalStorage:
    """Store objects under `folder/objects`. Content types that do not follow from file extensions are under
    `folder/types`."""

    def __init__(self, folder: Path, links: Links) -> None:
        self._folder = folder
        self._objects = folder / "objects"
        self._types = folder / "types"
        self._partial = folder / "partial"
        self._links = links
        for part in (self._objects, self._types, self._partial):
            part.mkdir(parents=True, exist_ok=True)

    def identity(self) -> str:
        """Return a name of the folder, which is written to it the first time: machines can mount it in different places."""
        path = self._folder / _IDENTITY
        with _translated():
            if not path.exists():
                draft = self._partial / new_id("identity")
                draft.write_text(draft.name)
                with suppress(FileExistsError):  # another process was first
                    path.hardlink_to(draft)
                draft.unlink()
            return f"the data folder's ({path.read_text()})"

    def put_file(self, key: str, path: Path, content_type: str = _DEFAULT_TYPE) -> None:
        """Store the content of a file."""
        with _translated(), path.open("rb") as source:
            self._put(key, content_type, lambda target: self._copy(source, target))

    def put_bytes(self, key: str, data: bytes, content_type: str = _DEFAULT_TYPE) -> None:
        """Store bytes."""
        with _translated():
            self._put(key, content_type, lambda target: target.write(data))

    def get_file(self, key: str, path: Path) -> None:
        """Write the object's content to a file, atomically."""
        with _translated(), self._found(key).open("rb") as source, _written(path.parent, path) as target:
            shutil.copyfileobj(source, target, _PIECE_BYTES)

    def get_bytes(self, key: str) -> bytes:
        """Return the object's content."""
        with _translated():
            return self._found(key).read_bytes()

    def open_range(self, key: str, start: int = 0, end: int | None = None) -> BinaryIO:
        """Return a stream over bytes [start, end)."""
        with _translated():
            stream = self._found(key).open("rb")
        stream.seek(start)
        return stream if end is None else io.BufferedReader(Bounded(stream, max(0, end - start)))

    def describe(self, key: str) -> StoredObject:
        """Return size, time and content type."""
        with _translated():
            return self._described(key, self._found(key))

    def exists(self, key: str) -> bool:
        """Return True if the key holds an object."""
        with _translated():
            return (self._objects / checked(key)).is_file()

    def check(self) -> None:
        """Raise StorageUnavailable if the folder is missing, or its disk is full or read-only."""
        with _translated():
            check_room(self._objects)

    def reserve_in_use(self) -> int:
        """Return the reserve of the folder's disk if less than that is free, else 0."""
        with _translated():
            return reserve_in_use(self._objects)

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        with _translated():
            (self._objects / checked(key)).unlink(missing_ok=True)
            (self._types / key).unlink(missing_ok=True)

    def remove_unfinished(self, before: datetime) -> int:
        """Delete partial files that were last written before the moment, and folders that have been empty since then. Return the
        number of files."""
        removed = 0
        with _translated():
            for path in self._partial.iterdir():
                with suppress(FileNotFoundError):  # the process that wrote it has ended
                    if path.stat().st_mtime < before.timestamp():
                        path.unlink()
                        removed += 1
            for folder in (*self._objects.glob("*/*/"), *self._types.glob("*/*/")):
                with suppress(OSError):  # the folder has entries again, or is gone
                    if folder.stat().st_mtime < before.timestamp():
                        folder.rmdir()
        return removed

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Return every object whose key starts with the prefix."""
        folder = self._objects / prefix.rpartition("/")[0]
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            key = path.relative_to(self._objects).as_posix()
            if key.startswith(prefix) and path.is_file():
                try:
                    found = self._described(key, path)
                except ObjectMissing:  # deleted since the folder was read
                    continue
                yield found

    def link(self, key: str, expires_at: int, origin: str, filename: str | None = None) -> str:
        """Return a signed URL under `/files/` of the origin."""
        return self._links.url(origin, checked(key), expires_at, filename)

    def _put(self, key: str, content_type: str, write: Callable[[BinaryIO], object]) -> None:
        path = self._objects / checked(key)
        type_path = self._types / key
        if content_type == _type_by_ending(key):
            type_path.unlink(missing_ok=True)
        else:
            with _stored(self._partial, type_path) as target:
                target.write(content_type.encode())
        with _stored(self._partial, path) as target:
            write(target)

    def _copy(self, source: BinaryIO, target: BinaryIO) -> None:
        """Copy a file. Raises StorageNearlyFull if it is large and takes half of the disk's reserve."""
        written = 0
        while piece := source.read(_PIECE_BYTES):
            written += target.write(piece)
            if written > ROOM_BYTES and is_half_of_reserve_used(self._objects):
                raise StorageNearlyFull("the disk has too little free space for a large object")

    def _found(self, key: str) -> Path:
        path = self._objects / checked(key)
        if not path.is_file():
            raise ObjectMissing(key)
        return path

    def _described(self, key: str, path: Path) -> StoredObject:
        try:
            facts = path.stat()
        except FileNotFoundError:
            raise ObjectMissing(key) from None
        try:
            content_type = (self._types / key).read_text()
        except FileNotFoundError:
            content_type = _type_by_ending(key)
        return StoredObject(key, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC), content_type)


def _type_by_ending(key: str) -> str:
    return _TYPES.guess_type(key, strict=True)[0] or _DEFAULT_TYPE


@contextmanager
def _translated() -> Iterator[None]:
    """Convert errors of a full, broken or missing disk: they are not the caller's fault."""
    try:
        yield
    except OSError as error:
        raise StorageUnavailable(str(error)) from error


@contextmanager
def _stored(partial: Path, path: Path) -> Iterator[BinaryIO]:
    """Yield a file like `_written` that also survives a power failure, because a committed row can name it."""
    known = {folder: _inode(folder) for folder in path.parents}
    with _written(partial, path) as target:
        yield target
        sync_file(target)
    new_folders = [folder for folder, inode in known.items() if _inode(folder) != inode]
    for folder in (path.parent, *(folder.parent for folder in new_folders)):
        sync_folder(folder)


def _inode(folder: Path) -> int | None:
    """Return the number of a folder, or None if it is missing. A folder that was removed and created again has another one."""
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return None


@contextmanager
def _written(partial: Path, path: Path) -> Iterator[BinaryIO]:
    """Yield a file that appears under `path` completely when the block ends, or not at all."""
    partial.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=partial, prefix=".partial-", delete=False) as target:
        temporary = Path(target.name)
        try:
            yield target  # type: ignore[misc]
            target.flush()
            _place(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _place(temporary: Path, path: Path) -> None:
    """Move a file to its path. A cleaner can remove the folder in between, while it is empty."""
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.replace(path)
            return
        except (FileNotFoundError, FileExistsError):  # mkdir raises the second if the folder was there and is gone
            if not temporary.exists() or path.parent.is_file():
                raise
