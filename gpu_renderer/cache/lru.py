"""A cache by value with a byte budget that evicts the least recently used entry."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class LruCache(Generic[V]):
    """Values by key, up to a total size."""

    def __init__(self, bytes_max: int, size_of: Callable[[V], int]) -> None:
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._bytes_max = bytes_max
        self._size_of = size_of
        self._bytes = 0

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of the key; call `make` if it is not cached. A value above the budget is not cached."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = make()
        size = self._size_of(value)
        if size <= self._bytes_max:
            self._values[key] = value
            self._bytes += size
        while self._bytes > self._bytes_max:
            _, oldest = self._values.popitem(last=False)
            self._bytes -= self._size_of(oldest)
        return value
