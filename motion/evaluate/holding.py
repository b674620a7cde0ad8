"""Layers whose keyframes all hold: before its first and after its last key a layer stands still, and is resolved once."""

from __future__ import annotations

from typing import cast

from motion.evaluate.context import EvaluationContext
from motion.model.layer import Layer

Held = tuple[tuple[Layer, tuple[tuple[float, float], ...]], ...]
"""A layer and its parents, each with the times of the first and the last key of the tracks that vary."""


def phase(context: EvaluationContext, layer: Layer) -> str | None:
    """Return the held end of the keyframes of each track of the layer and its parents, or None between keys.

    A layer is the same in equal phases, as far as keyframes alone move it.
    """
    spans_of_holders = layer.folded.get("held")
    if spans_of_holders is None:
        spans_of_holders = layer.folded["held"] = _held(layer)
    ends = ""
    for holder, spans in cast(Held, spans_of_holders) if spans_of_holders else ():
        time = context.own_time(holder)
        for first, last in spans:
            if time <= first:
                ends += "<"
            elif time >= last:
                ends += ">"
            else:
                return None
    return ends or None


def _held(layer: Layer) -> Held | tuple[()]:
    """Empty for what more than its own and its parents' keyframes can change, or what nothing changes."""
    found = []
    current: Layer | None = layer
    while current is not None:
        varying = [moving for moving in current.moving.values() if moving.varies]
        if current.is_3d or any(moving.expression is not None for moving in varying):
            return ()
        tracks = [moving.track for moving in varying if moving.track and moving.track.keys]
        found.append((current, tuple((track.times[0], track.times[-1]) for track in tracks)))
        current = current.parent
    return () if _looks_elsewhere(layer) else tuple(found)


def _looks_elsewhere(layer: Layer) -> bool:
    """Return True if the layer is made of more than one moment, or of more than itself and its parents."""
    is_swept = layer.motion_blur or layer.forced_blur is not None or layer.echo is not None
    return bool(is_swept or layer.auto_orient != "off" or layer.data or layer.rig or layer.mask_track)
