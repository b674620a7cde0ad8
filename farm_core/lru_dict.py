"""Dictionary that keeps the values set last."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruDict(OrderedDict[Key, Value]):
    """Up to `count_max` values. Above that, the value that was not set for longest is removed."""

    def __init__(self, count_max: int) -> None:
        super().__init__()
        self._count_max = count_max

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._count_max:
            self.popitem(last=False)
