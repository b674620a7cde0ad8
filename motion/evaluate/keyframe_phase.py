"""Phase of a layer: before its first keyframe and after its last one the layer does not change, and is resolved once."""

from __future__ import annotations

from typing import Final

from motion.evaluate.context import EvaluationContext
from motion.model.layer import KeySpans, Layer

PARENTS_MAX: Final = 64
"""Most parents above a layer that has phases. Layers deeper in a chain are resolved for every frame: looking at all parents of all of
them would take the square of the chain's length."""


def phase(context: EvaluationContext, layer: Layer) -> str | None:
    """Return a `<` or `>` for each track of the layer and its parents, before its first or after its last key; None between keys.

    A layer that only keyframes move is equal in equal phases.
    """
    key_spans = layer.constants.key_spans
    if key_spans is None:
        key_spans = layer.constants.key_spans = _key_spans(layer)
    ends = ""
    for moving_layer, spans in key_spans:
        time = context.own_time(moving_layer)
        for first, last in spans:
            if time <= first:
                ends += "<"
            elif time >= last:
                ends += ">"
            else:
                return None
    return ends or None


def _key_spans(layer: Layer) -> KeySpans:
    """Return the spans; empty unless keyframes of the layer and its parents are all that changes the layer."""
    found: list[tuple[Layer, tuple[tuple[float, float], ...]]] = []
    current: Layer | None = layer
    while current is not None:
        if len(found) > PARENTS_MAX:
            return ()
        varying = [moving for moving in current.moving.values() if moving.varies]
        if current.is_3d or any(moving.expression is not None for moving in varying):
            return ()
        tracks = [moving.track for moving in varying if moving.track and moving.track.keys]
        found.append((current, tuple((track.times[0], track.times[-1]) for track in tracks)))
        current = current.parent
    return () if _looks_elsewhere(layer) else tuple(found)


def _looks_elsewhere(layer: Layer) -> bool:
    """Return True if the layer depends on several times, or on layers besides itself and its parents."""
    is_swept = layer.motion_blur or layer.forced_blur is not None or layer.echo is not None
    return bool(
        is_swept or layer.auto_orient != "off" or layer.data or layer.rig or layer.mask_track or layer.clone_drivers
    )
