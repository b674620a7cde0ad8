"""Values of properties that expressions drive (animation.md 4)."""

from __future__ import annotations

from motion.evaluate.document_host import DocumentHost
from motion.formulas.expressions import property_value
from motion.model.layer import Layer
from motion.stored import LARGEST


class Properties:
    """Evaluate any property at a layer time, for one frame."""

    def __init__(self, host: DocumentHost) -> None:
        self._host = host
        self._known: dict[tuple[str, str, float], tuple[float | None, bool]] = {}
        """Values, each with True if no circular reference interrupted its evaluation."""
        self._active: set[tuple[str, str]] = set()
        """Properties that are being evaluated: the outermost, and those that its coordinate conversions ask for."""

    def value(self, layer: Layer, path: str, own_time: float) -> float | None:
        """Return the expression's result, else the keyframed value, else None."""
        address, name = (layer.id, path, own_time), (layer.id, path)
        known = self._known.get(address)
        # A value that a circular reference interrupts depends on the entry into the circle, so it is not shared.
        if known is not None and (known[1] or not self._active):
            return known[0]
        if name in self._active:
            raise self._host.refuse()
        refusals = self._host.refusals
        self._active.add(name)
        try:
            value = property_value(self._host.seen_by(layer), layer.source_id, path, own_time)
        finally:
            self._active.remove(name)
        value = None if value is None else max(-LARGEST, min(LARGEST, value))
        is_whole = refusals == self._host.refusals
        if is_whole or not self._active:
            self._known[address] = value, is_whole
        return value
