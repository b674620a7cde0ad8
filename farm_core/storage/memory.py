"""Objects in memory: the double that tests and the simulation use."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from farm_core.storage.keys import checked
from farm_core.storage.links import Links
from farm_core.storage.port import ObjectMissing, StoredObject

_DEFAULT_TYPE = "application/octet-stream"


class MemoryStorage:
    """Keeps objects in a dictionary."""

    def __init__(self, links: Links) -> None:
        self._objects: dict[str, tuple[StoredObject, bytes]] = {}
        self._lock = threading.Lock()
        self._links = links

    def put_file(self, key: str, path: Path, content_type: str = _DEFAULT_TYPE) -> None:
        """Stores a file's content."""
        self.put_bytes(key, path.read_bytes(), content_type)

    def put_bytes(self, key: str, data: bytes, content_type: str = _DEFAULT_TYPE) -> None:
        """Stores bytes."""
        with self._lock:
            self._objects[checked(key)] = (StoredObject(key, len(data), datetime.now(UTC), content_type), data)

    def get_file(self, key: str, path: Path) -> None:
        """Writes the object's content to a file, atomically."""
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(self.get_bytes(key))
        partial.replace(path)

    def get_bytes(self, key: str) -> bytes:
        """The object's content."""
        return self._found(key)[1]

    def open_range(self, key: str, start: int = 0, end: int | None = None) -> BinaryIO:
        """A stream over bytes [start, end)."""
        return io.BytesIO(self.get_bytes(key)[start:end])

    def describe(self, key: str) -> StoredObject:
        """Size, time and type."""
        return self._found(key)[0]

    def exists(self, key: str) -> bool:
        """Whether the key holds an object."""
        return checked(key) in self._objects

    def delete(self, key: str) -> None:
        """Removes the object, if it is there."""
        with self._lock:
            self._objects.pop(checked(key), None)

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Every object whose key begins with the prefix."""
        with self._lock:
            found = sorted(key for key in self._objects if key.startswith(prefix))
        yield from (self.describe(key) for key in found)

    def link(self, key: str, seconds: int, origin: str, filename: str | None = None) -> str:
        """A signed URL under the origin's `/files/`."""
        return self._links.url(origin, checked(key), self._links.in_seconds(seconds), filename)

    def _found(self, key: str) -> tuple[StoredObject, bytes]:
        try:
            return self._objects[checked(key)]
        except KeyError:
            raise ObjectMissing(key) from None
