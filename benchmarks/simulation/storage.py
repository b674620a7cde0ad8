"""Storage that keeps nothing: the simulation's results have no bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from farm_core.storage.port import ObjectMissing, StoredObject


class NullStorage:
    """Accept everything, and hold nothing."""

    def identity(self) -> str:
        """Return a name."""
        return "nothing"

    def put_file(self, key: str, path: Path, content_type: str = "") -> None:
        """Forget a file."""

    def put_bytes(self, key: str, data: bytes, content_type: str = "") -> None:
        """Forget bytes."""

    def get_file(self, key: str, path: Path) -> None:
        """Raise ObjectMissing."""
        raise ObjectMissing(key)

    def get_bytes(self, key: str) -> bytes:
        """Raise ObjectMissing."""
        raise ObjectMissing(key)

    def open_range(self, key: str, start: int = 0, end: int | None = None) -> BinaryIO:
        """Return an empty stream."""
        return io.BytesIO()

    def describe(self, key: str) -> StoredObject:
        """Raise ObjectMissing."""
        raise ObjectMissing(key)

    def exists(self, key: str) -> bool:
        """Return False."""
        return False

    def check(self) -> None:
        """Do nothing."""

    def reserve_in_use(self) -> int:
        """Return 0: nothing limits the store."""
        return 0

    def delete(self, key: str) -> None:
        """Do nothing."""

    def remove_unfinished(self, before: datetime) -> int:
        """Do nothing."""
        return 0

    def listed(self, prefix: str) -> Iterator[StoredObject]:
        """Yield nothing."""
        yield from ()

    def link(self, key: str, expires_at: int, origin: str, filename: str | None = None) -> str:
        """Return an address."""
        return f"{origin}/files/{key}"
