"""Records of the flat layers whose content stays while they move and fade.

A record is found by the layer's id and by the identity of everything that its content depends on. It keeps the paint of a
layer from frame to frame, and tells which layers only move: `lower.py` draws these as rows of arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from motion.snapshot import LayerSnapshot, ShapeSource, TextSource

SCALES_MAX = 4
"""Most scales at which the content of a layer is cached."""
_FIXED = attrgetter(
    "blend", "preserve_transparency", "masks", "effects", "fill_opacity", "glass", "backdrop_blur", "draft_quality",
    "continuous_raster", "mesh",
)  # fmt: skip
"""Members of a layer, besides its source, on which its content and its route depend."""

P = TypeVar("P")


class PaintKey(NamedTuple):
    """Everything in a step on which the paint of a layer depends, besides the layer itself."""

    raster_scale: float
    is_turned: bool
    is_exact: bool
    is_aces_cg: bool


class LayerRecord(Generic[P]):
    """A layer in the last frames, with its paint at several scales of its raster.

    A layer that turns has a scale with rounding errors, so it can change between two rasters from frame to frame.
    """

    __slots__ = ("_by_samples", "_key", "_paint", "fixed", "layer")

    def __init__(self, layer: LayerSnapshot) -> None:
        self.layer, self.fixed = layer, _FIXED(layer)
        self._key: PaintKey | None = None
        self._paint: P
        self._by_samples: dict[tuple[float, PaintKey], P] = {}

    def paint(self, wanted: PaintKey, samples: Callable[[], float], make: Callable[[], P]) -> P:
        """Return the paint for a key. `samples`: raster px per layer px. `make`: draws the paint."""
        if wanted != self._key:
            key = samples(), wanted._replace(raster_scale=0.0)
            if key not in self._by_samples:
                if len(self._by_samples) == SCALES_MAX:
                    del self._by_samples[next(iter(self._by_samples))]
                self._by_samples[key] = make()
            self._key, self._paint = wanted, self._by_samples[key]
        return self._paint


class LayerRecords(Generic[P]):
    """Records of the layers of this frame and of the previous one."""

    def __init__(self) -> None:
        self._now: dict[str, LayerRecord[P]] = {}
        self._before = self._now

    def find(self, layer: LayerSnapshot) -> tuple[LayerRecord[P], bool] | None:
        """Return the record of a bare shape or text, and True if the record is new, or None.

        None also for a layer that is the same object as in the last frame: it stands still.
        """
        found = self._now.get(layer.id) or self._before.get(layer.id)
        if found is not None and found.layer.source is layer.source and found.fixed == _FIXED(layer):
            self._now[layer.id] = found
            if found.layer is layer:
                return None
            found.layer = layer
            return found, False
        if not _is_bare(layer):
            return None
        made = self._now[layer.id] = LayerRecord[P](layer)
        return made, True

    def end_frame(self) -> None:
        """Drop the records that the current frame did not use."""
        self._before, self._now = self._now, {}


def _is_bare(layer: LayerSnapshot) -> bool:
    """Return True for a shape or a text that is only placed and faded over its backdrop."""
    is_changed = layer.effects or layer.masks or layer.mesh or layer.fill_opacity < 1 or layer.shows_backdrop
    is_still = isinstance(layer.source, (ShapeSource, TextSource))
    return is_still and layer.blend == "normal" and not (is_changed or layer.preserve_transparency)
