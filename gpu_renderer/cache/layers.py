"""Layer cache: render targets that outlive a frame, so that an unchanged layer is drawn once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

from gpu_renderer.opengl.targets import Target, TargetPool

T = TypeVar("T")
LAYER_BYTES_MAX = 256 << 20


class Entry(NamedTuple):
    """A cached result at a path. It can be reused only if `key` equals the wanted key."""

    key: object
    made: object
    """A target, or an object that owns targets: a layer buffer, a glow, a flattened plane.

    The prefix of the path, such as `glow:`, names the kind.
    """
    targets: tuple[Target, ...]


class LayerCache:
    """Layer buffers, groups, baked images, flattened planes and glows, by path in the tree of compositions.

    Key rule: an entry is reused if its key, the value of everything that its pixels depend on, is equal. Budget: above
    it the least recently used entries are released at the end of a frame.
    """

    def __init__(self, pool: TargetPool, bytes_max: int) -> None:
        self._pool = pool
        self._bytes_max = bytes_max
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def at(self, path: str) -> Entry | None:
        """Return the entry at a path, whatever its key."""
        if path in self._entries:
            self._entries.move_to_end(path)
        return self._entries.get(path)

    def get(self, path: str, key: object, make: Callable[[], T], targets_of: Callable[[T], tuple[Target, ...]]) -> T:
        """Return the cached object at a path if its key is equal. Otherwise make and cache it."""
        entry = self.at(path)
        if entry is not None and entry.key == key:
            return cast(T, entry.made)
        made = make()
        self.put(path, key, made, *targets_of(made))
        return made

    def find(self, path: str, key: object, kind: type[T]) -> T | None:
        """Return the cached object at a path if it has this class and an equal key, else None."""
        entry = self.at(path)
        return entry.made if entry is not None and entry.key == key and isinstance(entry.made, kind) else None

    def put(self, path: str, key: object, made: object, *targets: Target) -> None:
        """Cache an object with its targets. The targets of the former entry are released, unless they are the same."""
        old = self._entries.pop(path, None)
        if old is not None and old.targets != targets:
            self._pool.give_back(*old.targets)
        self._entries[path] = Entry(key, made, targets)

    def trim(self) -> None:
        """Release entries above the budget. Call it between frames."""
        used_bytes = sum(target.size_bytes for entry in self._entries.values() for target in entry.targets)
        while self._entries and used_bytes > self._bytes_max:
            targets = self._entries.popitem(last=False)[1].targets
            used_bytes -= sum(target.size_bytes for target in targets)
            self._pool.give_back(*targets)

    def clear(self) -> None:
        """Release everything."""
        while self._entries:
            self._pool.give_back(*self._entries.popitem()[1].targets)
