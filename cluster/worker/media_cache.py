"""Cache of documents and media on a worker's disk, keyed by content hash and limited in size."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from cluster.worker.temporary_room import check_sizes
from farm_core.storage.port import ObjectMissing, Storage
from farm_core.telemetry import logs

_log = logs.logger(__name__)

BYTES_MAX: Final = 2_000_000_000
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class MediaCache:
    """LRU cache of files from storage."""

    def __init__(self, storage: Storage, folder: Path, bytes_max: int = BYTES_MAX) -> None:
        self._storage = storage
        self._folder = folder
        self._bytes_max = bytes_max
        self._sizes: OrderedDict[str, int] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Return the path of the object's file, which exists until it is trimmed.

        Raises ObjectMissing, also for an object whose bytes have changed. It is deleted, so that the next job stores it anew.
        """
        path = self._folder / Path(key).name
        if key in self._sizes:
            self._sizes.move_to_end(key)
            return path
        self._storage.get_file(key, path)
        if _has_changed(path):
            _log.warning("deleted an object that is damaged in storage", key=key)
            self._storage.delete(key)
            path.unlink()
            raise ObjectMissing(key)
        self._sizes[key] = path.stat().st_size
        return path

    def resolver(self, media: Mapping[str, str]) -> Callable[[str], Path | None]:
        """Return a function that maps a document's source to its file, or to None for a source without media.

        It raises DiskNearlyFull if the document's media are large and take the reserve of the disk.
        """

        def resolve(source: str) -> Path | None:
            if source not in media:
                return None
            is_new = media[source] not in self._sizes
            path = self.path(media[source])
            if is_new:
                check_sizes(sum(self._sizes.get(key, 0) for key in set(media.values())), self._folder)
            return path

        return resolve

    def trim(self, in_use: Collection[str], bytes_max: int | None = None) -> None:
        """Delete the least recently used files until the rest fits the budget. Keep files whose keys are `in_use`."""
        surplus_bytes = sum(self._sizes.values()) - (self._bytes_max if bytes_max is None else bytes_max)
        for key in [key for key in self._sizes if key not in in_use]:
            if surplus_bytes <= 0:
                return
            surplus_bytes -= self._sizes.pop(key)
            (self._folder / Path(key).name).unlink(missing_ok=True)


def _has_changed(path: Path) -> bool:
    """Return True if the file is named by a hash that its content does not have. Uploads have other names."""
    if not _SHA256.fullmatch(path.stem):
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() != path.stem
