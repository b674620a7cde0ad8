"""Damage between two display lists, and the length of their common prefix."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpu_renderer.display_list.graph import Draw
from gpu_renderer.display_list.operations import (
    BlendLayer,
    DisplayList,
    DrawMoved,
    LayerOperation,
    Operation,
    regions_of,
)
from gpu_renderer.display_list.routing import is_stencil, reads_around
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects
from motion.snapshot import MissingSource

STABLE_FRAMES = 3
"""Number of consecutive frames without a change after which operations count as stable."""


class StablePrefix:
    """Detector of the operations at the bottom that do not change over a sequence of frames."""

    def __init__(self) -> None:
        self._last: DisplayList | None = None
        self._counts: deque[int] = deque(maxlen=STABLE_FRAMES)

    def observe(self, display_list: DisplayList) -> int:
        """Return the number of stable operations at the bottom of the frame's list, 0 if there are none yet."""
        last, self._last = self._last, display_list
        is_comparable = last is not None and last.base == display_list.base
        count = _shared_count(display_list.operations, last.operations) if last is not None and is_comparable else -1
        self._counts.append(count)
        return max(0, min(self._counts)) if len(self._counts) == STABLE_FRAMES else 0

    def reset(self) -> None:
        """Forget all frames."""
        self._last = None
        self._counts.clear()


def changed(old: DisplayList, new: DisplayList, prefix_count: int = 0) -> Damage:
    """Return the damage: the pixels in which two lists can differ.

    `prefix_count`: number of operations at the bottom that are cached as pixels.
    """
    scene = new.scene
    if old == new:
        return damage.nothing(scene.frame)
    if old.base != new.base:
        return damage.area(scene.frame, (scene.clip,))
    before = _shared_count(old.operations, new.operations)
    after = _shared_count(old.operations[before:][::-1], new.operations[before:][::-1])
    olds = old.operations[before : len(old.operations) - after]
    news = new.operations[before : len(new.operations) - after]
    if any(map(reads_around, (*olds, *new.operations[min(before, prefix_count) :]))):
        return damage.area(scene.frame, (scene.clip,))
    if len(olds) == len(news):
        pairs = zip(olds, news, strict=True)
        return damage.area(scene.frame, [region for was, now in pairs for region in _changed_operation(was, now)])
    return damage.area(scene.frame, regions_of((*olds, *news)))


def cached_count(cached: DisplayList | None, display_list: DisplayList) -> int:
    """Return the number of operations at the bottom of a list that are also a cached list, 0 if its base or one of them differs."""
    if cached is None or cached.base != display_list.base:
        return 0
    count = len(cached.operations)
    return count if display_list.operations[:count] == cached.operations else 0


def _shared_count(old: Sequence[Operation], new: Sequence[Operation]) -> int:
    shorter = min(len(old), len(new))
    return next((index for index in range(shorter) if old[index] != new[index]), shorter)


def _changed_operation(was: Operation, now: Operation) -> Rects:
    """Return the rectangles that differ between two versions of an operation. They can overlap."""
    if was == now:
        return ()
    if isinstance(was, LayerOperation) and isinstance(now, LayerOperation):
        old, new = was.layer, now.layer
        if old.group is not None and new.group is not None:
            is_inside = _carrier(old.step) == _carrier(new.step) and old.group.scene == new.group.scene
            if is_inside and not new.step.layer.effects:
                return changed(old.group, new.group).rects()
        # A blend quantises the whole target.
        if all(isinstance(one, BlendLayer) and not is_stencil(one.layer.step) for one in (was, now)):
            return old.bounds, new.bounds
    if isinstance(was, DrawMoved) and isinstance(now, DrawMoved) and was.is_same_layers(now):
        rows = np.flatnonzero((was.places != now.places).any(axis=0)).tolist()
        return tuple([regions[row] for regions in (was.regions, now.regions) for row in rows])
    return tuple(regions_of((was, now)))


def _carrier(step: Draw) -> Draw:
    """Return a group's step without its content."""
    return replace(step, group=None, layer=replace(step.layer, source=MissingSource("")))
