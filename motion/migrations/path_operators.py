"""1.2.0 to 1.5.0: the single operator, the trim and the repeater move into one chain of path operators."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from motion.migrations.components import nodes_with_fx, rename_tracks
from motion.stored import Document, Record, number


class FormerOperator(NamedTuple):
    """An operator that older documents store beside the chain."""

    key: str
    """Its key in `fx`, and its type in the chain."""
    track_prefix: str
    """Prefix of its property paths."""
    id_prefix: str
    defaults: dict[str, float]


TRIM = FormerOperator("trim", "trim", "trimop", {"start": 0.0, "end": 100.0, "offset": 0.0})
REPEATER = FormerOperator(
    "repeater",
    "rep",
    "repop",
    {
        "copies": 6.0,
        "offsetX": 80.0,
        "offsetY": 0.0,
        "offsetRotation": 0.0,
        "offsetScale": 1.0,
        "offsetOpacity": 1.0,
        "offset": 0.0,
        "anchorX": 0.0,
        "anchorY": 0.0,
    },
)


def path_operator_chain(document: Document) -> None:
    """1.2.0 to 1.3.0: `fx.pathOp` becomes the only entry of `fx.pathOps`, unless that list already exists."""
    for node_id, fx in nodes_with_fx(document):
        single = fx.pop("pathOp", None)
        if isinstance(single, dict) and not isinstance(fx.get("pathOps"), list):
            fx["pathOps"] = [{**single, "id": f"op_{node_id}"}]
            rename_tracks(document, node_id, partial(_single_path, f"op_{node_id}"))


def trim_operator(document: Document) -> None:
    """1.3.0 to 1.4.0: `fx.trim` is appended to the chain."""
    for node_id, fx in nodes_with_fx(document):
        _append(document, node_id, fx, TRIM)


def repeater_operator(document: Document) -> None:
    """1.4.0 to 1.5.0: `fx.repeater` is appended to the chain."""
    for node_id, fx in nodes_with_fx(document):
        _append(document, node_id, fx, REPEATER)


def _append(document: Document, node_id: str, fx: Record, former: FormerOperator) -> None:
    key, prefix, id_prefix, defaults = former
    stored, operator_id = fx.get(key), f"{id_prefix}_{node_id}"
    if not isinstance(stored, dict):
        return
    operator: Record = {"id": operator_id, "type": key, "amount": 0, "detail": 0}
    operator.update({name: _unrounded(number(stored, name, default)) for name, default in defaults.items()})
    if key == "repeater":
        operator["composite"] = "below" if stored.get("composite") == "below" else "above"
    chain = fx.get("pathOps")
    fx["pathOps"] = [*(chain if isinstance(chain, list) else []), operator]
    del fx[key]
    rename_tracks(document, node_id, lambda path: _prefixed_path(path, prefix, operator_id, defaults))


def _unrounded(value: float) -> float | int:
    """Return whole numbers as integers, so that they are written without a fraction, as in the editor."""
    return int(value) if value.is_integer() else value


def _single_path(operator_id: str, path: str) -> str | None:
    prefix, _, parameter = path.partition(".")
    return f"pathop.{operator_id}.{parameter}" if prefix == "pathop" and parameter and "." not in parameter else None


def _prefixed_path(path: str, prefix: str, operator_id: str, parameters: dict[str, float]) -> str | None:
    head, _, parameter = path.partition(".")
    return f"pathop.{operator_id}.{parameter}" if head == prefix and parameter in parameters else None
