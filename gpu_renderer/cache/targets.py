"""Targets that outlive a frame: a layer or a group that does not change is drawn once (format-independent: by value)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Target, TargetPool

KEPT_BYTES_MAX = 96 << 20
Value = TypeVar("Value")


class KeptTargets(Generic[Value]):
    """Targets by place and by the value that they picture, least recently used given back first.

    A place is where in the tree of compositions a layer stands; it holds one value, of one target or a few, at a time.
    """

    def __init__(self, pool: TargetPool, bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._pool = pool
        self._bytes_max = bytes_max
        self._kept: OrderedDict[str, tuple[Value, tuple[Target, ...]]] = OrderedDict()
        self.hit_count = 0

    @property
    def count(self) -> int:
        """How many targets are held."""
        return sum(len(targets) for _, targets in self._kept.values())

    def find(self, place: str) -> tuple[Value, Target] | None:
        """The value pictured by what is kept at a place, and the first of its targets."""
        if place in self._kept:
            self._kept.move_to_end(place)
            value, targets = self._kept[place]
            return value, targets[0]
        return None

    def put(self, place: str, value: Value, *targets: Target) -> None:
        """Keeps targets; those kept there before are given back, unless they are the same."""
        old = self._kept.pop(place, None)
        if old is not None and old[1] != targets:
            self._pool.give_back(*old[1])
        self._kept[place] = (value, targets)

    def trim(self) -> None:
        """Gives back what is over the budget; to be called when no pass is under way."""
        while self._kept and self._bytes > self._bytes_max:
            self._pool.give_back(*self._kept.popitem(last=False)[1][1])

    def clear(self) -> None:
        """Gives everything back."""
        while self._kept:
            self._pool.give_back(*self._kept.popitem()[1][1])

    @property
    def _bytes(self) -> int:
        return sum(_bytes(target) for _, targets in self._kept.values() for target in targets)


def _bytes(target: Target) -> int:
    return target.region.width * target.region.height * BYTES_PER_PIXEL[target.format]
