"""A cache by value with a byte budget that evicts the least recently used entry."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V
    used_in: int
    """Number of the last frame that used the entry."""


class LruCache(Generic[V]):
    """Values by key, up to a total size.

    Values of this frame and the last one can take more, up to `bytes_in_use_max`.
    """

    def __init__(self, bytes_max: int, size_of: Callable[[V], int], bytes_in_use_max: int = 0) -> None:
        self._entries: OrderedDict[Hashable, _Entry[V]] = OrderedDict()
        self._bytes_max, self._bytes_in_use_max = bytes_max, max(bytes_max, bytes_in_use_max)
        self._size_of = size_of
        self._bytes = 0
        self._frame = 0

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of the key; call `make` if it is not cached. A value above both budgets is not cached."""
        if (entry := self._entries.get(key)) is not None:
            self._entries.move_to_end(key)
            entry.used_in = self._frame
            return entry.value
        value = make()
        size = self._size_of(value)
        if size <= self._bytes_in_use_max:
            self._entries[key] = _Entry(value, self._frame)
            self._bytes += size
            self._trim()
        return value

    def end_frame(self) -> None:
        """Evict entries above the budget that neither this frame nor the last one used."""
        self._frame += 1
        self._trim()

    def end_use(self) -> None:
        """Evict entries above the budget, including those in use."""
        self._frame += 2
        self._trim()

    def clear(self) -> None:
        """Evict all entries."""
        self._entries.clear()
        self._bytes = 0

    def _trim(self) -> None:
        while self._bytes > self._bytes_max:
            key, oldest = next(iter(self._entries.items()))
            if oldest.used_in >= self._frame - 1 and self._bytes <= self._bytes_in_use_max:
                return
            del self._entries[key]
            self._bytes -= self._size_of(oldest.value)
