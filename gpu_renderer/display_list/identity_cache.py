"""Cache of the steps and operations of layers that do not change, found by the identity of their objects.

A layer that does not change is the same object in every snapshot (`motion.evaluate`). Its step and its operation are the same
objects too, so that comparing them takes no time.
"""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")


class IdentityCache(Generic[V]):
    """Results of this frame and of the previous one, by the object that they are made of and an equal place."""

    def __init__(self) -> None:
        self._now: dict[int, tuple[object, object, V]] = {}
        self._before = self._now

    def get(self, source: object, place: object) -> V | None:
        """Return the result for an object at a place, or None if neither frame has made it."""
        key = id(source)
        found = self._now.get(key) or self._before.get(key)
        if found is None or found[1] != place:
            return None
        self._now[key] = found
        return found[2]

    def put(self, source: object, place: object, result: V) -> None:
        """Store a result with its object, so that no other object gets the same identity."""
        self._now[id(source)] = source, place, result

    def end_frame(self) -> None:
        """Drop the results that the current frame did not use."""
        self._before, self._now = self._now, {}
