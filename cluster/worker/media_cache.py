"""Cache of documents and media on a worker's disk, keyed by content hash and limited in size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from cluster.worker.temporary_room import check_sizes
from farm_core.storage.port import Storage

BYTES_MAX: Final = 2_000_000_000


class MediaCache:
    """LRU cache of files from storage."""

    def __init__(self, storage: Storage, folder: Path, bytes_max: int = BYTES_MAX) -> None:
        self._storage = storage
        self._folder = folder
        self._bytes_max = bytes_max
        self._sizes: OrderedDict[str, int] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Return the path of the object's file, which exists until it is trimmed. Raises ObjectMissing."""
        path = self._folder / Path(key).name
        if key in self._sizes:
            self._sizes.move_to_end(key)
            return path
        self._storage.get_file(key, path)
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
