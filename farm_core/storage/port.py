"""The port to object storage. Every implementation passes one conformance suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol


class ObjectMissing(Exception):
    """No object has this key."""


class StorageUnavailable(Exception):
    """The store failed after its own retries: it does not answer, is full, or refuses the farm. Try again later."""


class StorageNearlyFull(StorageUnavailable):
    """The store keeps its last free space for small objects, and refuses a large one. Try again later."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Properties of an object that are known without reading its content."""

    key: str
    bytes: int
    modified_at: datetime
    content_type: str


class Storage(Protocol):
    """Objects by key. Keys are slash-separated, of `A-Z a-z 0-9 . _ -`, and never start with a slash.

    Methods block (callers use threads). Writes are atomic: a reader sees the old object or the new one, never a part.
    Reading or describing a missing key raises ObjectMissing; deleting one is no error. Every method can raise
    StorageUnavailable.
    """

    def identity(self) -> str:
        """Return a name of the place of the objects, equal in all processes that use it."""
        ...

    def put_file(self, key: str, path: Path, content_type: str = "application/octet-stream") -> None:
        """Store the content of a file (a large one in parts)."""
        ...

    def put_bytes(self, key: str, data: bytes, content_type: str = "application/octet-stream") -> None:
        """Store bytes."""
        ...

    def get_file(self, key: str, path: Path) -> None:
        """Write the object's content to a file, atomically."""
        ...

    def get_bytes(self, key: str) -> bytes:
        """Return the content of a small object."""
        ...

    def open_range(self, key: str, start: int = 0, end: int | None = None) -> BinaryIO:
        """Return a stream over bytes [start, end)."""
        ...

    def describe(self, key: str) -> StoredObject:
        """Return the size, time and type of an object."""
        ...

    def exists(self, key: str) -> bool:
        """Return True if the key holds an object."""
        ...

    def check(self) -> None:
        """Raise StorageUnavailable if the store is away, or is known to have no room for new objects."""
        ...

    def reserve_in_use(self) -> int:
        """Return the store's reserve of free space in bytes if less than that is free, else 0. Buckets have no reserve."""
        ...

    def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        ...

    def remove_unfinished(self, before: datetime) -> int:
        """Delete unfinished parts of objects whose writers were killed before the moment; return their number."""
        ...

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Return every object whose key starts with the prefix."""
        ...

    def link(self, key: str, expires_at: int, origin: str, filename: str | None = None) -> str:
        """Return a signed URL that serves the object with byte ranges until `expires_at` (seconds since 1970).

        `origin` is the farm's public one.
        """
        ...
