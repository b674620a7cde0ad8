"""Static prefix: stable operations at the bottom of a list, cached as one target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry.region import Rects
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

DrawList = Callable[[DisplayList, Target, Rects], None]
"""Draw a list over parts of a target."""


@dataclass(frozen=True, slots=True)
class _Prefix:
    display_list: DisplayList
    target: Target


class StaticPrefix:
    """Cache of the prefix of one sequence of frames."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._prefix: _Prefix | None = None

    def count(self, display_list: DisplayList) -> int:
        """Return the number of cached operations at the bottom of the list."""
        prefix = self._prefix
        return (
            len(prefix.display_list.operations)
            if prefix is not None and _begins_with(display_list, prefix.display_list)
            else 0
        )

    def update(self, display_list: DisplayList, stable_count: int, like: Target, draw: DrawList) -> None:
        """Forget a prefix that changed, and draw the operations that have become stable.

        A plain background alone is not cached.
        """
        prefix = self._prefix
        if prefix is not None and not _begins_with(display_list, prefix.display_list):
            self.forget()
            prefix = None
        if stable_count <= (0 if prefix is None else len(prefix.display_list.operations)):
            return
        first = replace(display_list, operations=display_list.operations[:stable_count])
        if prefix is None:
            target = self._painter.pool.take(like.region, like.format)
            draw(first, target, (like.region,))
        else:
            target = prefix.target
            draw(_after(first, len(prefix.display_list.operations)), target, (like.region,))
        self._prefix = _Prefix(first, target)

    def restore(self, display_list: DisplayList, into: Target, rects: Rects) -> DisplayList:
        """Copy the prefix into the parts and return the remaining list: the whole list without a prefix."""
        prefix = self._prefix
        if prefix is None or not _begins_with(display_list, prefix.display_list):
            return display_list
        self._painter.restore(prefix.target, into, rects)
        return _after(display_list, len(prefix.display_list.operations))

    def forget(self) -> None:
        """Give the target back."""
        if self._prefix is not None:
            self._painter.pool.give_back(self._prefix.target)
            self._prefix = None


def _after(display_list: DisplayList, count: int) -> DisplayList:
    return replace(display_list, operations=display_list.operations[count:], background=None, background_paint=None)


def _begins_with(display_list: DisplayList, prefix: DisplayList) -> bool:
    return display_list.base == prefix.base and display_list.operations[: len(prefix.operations)] == prefix.operations
