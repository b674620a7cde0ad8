"""Documents and media of jobs on a worker's own disk, by the hash of their content, within a budget."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

from farm_core.storage.port import Storage

BYTES_MAX: Final = 2_000_000_000


class MediaCache:
    """Files fetched from storage, kept until the budget is spent, the least recently used going first."""

    def __init__(self, storage: Storage, folder: Path, bytes_max: int = BYTES_MAX) -> None:
        self._storage = storage
        self._folder = folder
        self._bytes_max = bytes_max
        self._sizes: OrderedDict[str, int] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Return the object as a file that exists until it is trimmed. Raises ObjectMissing."""
        path = self._folder / Path(key).name
        if key in self._sizes:
            self._sizes.move_to_end(key)
            return path
        self._storage.get_file(key, path)
        self._sizes[key] = path.stat().st_size
        return path

    def resolver(self, media: Mapping[str, str]) -> Callable[[str], Path | None]:
        """Return a function from a document's source to its file, or None for a source without media."""
        return lambda source: self.path(media[source]) if source in media else None

    def trim(self, in_use: Collection[str]) -> None:
        """Delete the files above the budget that were used longest ago, but none whose key is `in_use`."""
        surplus_bytes = sum(self._sizes.values()) - self._bytes_max
        for key in [key for key in self._sizes if key not in in_use]:
            if surplus_bytes <= 0:
                return
            surplus_bytes -= self._sizes.pop(key)
            (self._folder / Path(key).name).unlink(missing_ok=True)
