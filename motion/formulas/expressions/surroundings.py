"""The objects of an expression: layers, markers, coordinates (animation.md 4.4, 4.5, 4.9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from motion.formulas.expressions.host import ExpressionHost, Marker, SourceRect
from motion.formulas.expressions.mathematics import argument, round_half_up
from motion.formulas.expressions.values import ExpressionError, Native, Record, Value, text, truthy

Point = tuple[float, float, float]


def markers(found: Sequence[Marker], time: float) -> Record:
    """A `marker` object; `time` is the default of `nearestKey`."""

    def key(arguments: Sequence[Value]) -> Value:
        wanted = arguments[0] if arguments else 1.0
        if isinstance(wanted, str):
            return _marker(found, _index_of_text(found, wanted))
        position = argument(arguments, 0, 1.0)
        if not found or math.isnan(position):
            return _marker(found, None)
        return _marker(found, int(min(float(len(found)), max(1.0, round_half_up(position)))) - 1)

    def nearest_key(arguments: Sequence[Value]) -> Value:
        at = argument(arguments, 0, time)
        return _marker(found, min(range(len(found)), key=lambda i: abs(found[i].time - at), default=None))

    return Record({"numKeys": float(len(found)), "key": Native(key), "nearestKey": Native(nearest_key)})


def _index_of_text(found: Sequence[Marker], wanted: str) -> int | None:
    """Return the index of the marker with this comment, else of the one with this name."""
    comments = (i for i, marker in enumerate(found) if marker.comment == wanted)
    names = (i for i, marker in enumerate(found) if marker.name == wanted)
    return next(comments, next(names, None))


def _marker(found: Sequence[Marker], index: int | None) -> Record:
    marker = Marker(0.0, 0.0, "", "") if index is None else found[index]
    return Record(
        {
            "time": float(marker.time),
            "duration": float(marker.duration),
            "name": marker.name,
            "comment": marker.comment,
            "index": 0.0 if index is None else index + 1.0,
        }
    )


def coordinates(host: ExpressionHost, node_id: str, time: float) -> dict[str, Value]:
    """Return `toComp`, `fromComp`, `toWorld` and `fromWorld` of a layer."""

    def mapped(convert: Callable[[str, Point, float], tuple[float, ...]]) -> Native:
        return Native(
            lambda arguments: tuple(map(float, convert(node_id, _point(arguments), argument(arguments, 1, time))))
        )

    return {
        "toComp": mapped(host.to_composition),
        "fromComp": mapped(lambda node, point, at: host.from_composition(node, point[:2], at)),
        "toWorld": mapped(host.to_world),
        "fromWorld": mapped(host.from_world),
    }


def source_rect(host: ExpressionHost, node_id: str, time: float) -> Native:
    """`sourceRectAtTime(t, extents)`; a layer whose content is not known has its own size at 0, 0."""

    def call(arguments: Sequence[Value]) -> Value:
        extents = truthy(arguments[1]) if len(arguments) > 1 else False
        rect = host.source_rect(node_id, argument(arguments, 0, time), extents)
        if rect is None:
            width, height = layer_size(host, node_id)
            rect = SourceRect(0.0, 0.0, width, height)
        return Record({name: float(length) for name, length in rect._asdict().items()})

    return Native(call)


def layer_size(host: ExpressionHost, node_id: str) -> tuple[float, float]:
    """Return the layer's static size, or the composition's if the layer stores none."""
    facts, composition = host.layer_facts(node_id), host.composition()
    width = composition.width if facts.width is None else facts.width
    height = composition.height if facts.height is None else facts.height
    return float(width), float(height)


def found_layer(host: ExpressionHost, name: Value) -> str | None:
    """Return the id of a layer by name, or by id after `#`."""
    written = text(name)
    return written[1:] if written.startswith("#") else host.layer_named(written)


def _point(arguments: Sequence[Value]) -> Point:
    value = arguments[0] if arguments else None
    if type(value) is not tuple or len(value) < 2:
        raise ExpressionError("a point is an array of two numbers or more")
    parts = [part for part in value if isinstance(part, float) and math.isfinite(part)]
    if len(parts) < len(value):
        raise ExpressionError("a point is made of finite numbers")
    return parts[0], parts[1], parts[2] if len(parts) > 2 else 0.0
