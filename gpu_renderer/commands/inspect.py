"""Say what is in a document: compositions, layers, inputs, and what will not be drawn; with --time the evaluated frame."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from gpu_renderer.commands import options
from gpu_renderer.commands.local import fields_of, read_local
from motion import template
from motion.build import build
from motion.errors import DocumentError
from motion.evaluate.frame import snapshot
from motion.model.composition import Composition, Entry
from motion.notices import OTHER_CODE, of_document, of_lines
from motion.schema.compositions import chosen, compositions
from motion.schema.stored import Document
from motion.snapshot import CompositionSource, LayerSnapshot, Snapshot, Transform2D
from motion.timing import frame_count

TEXT_MAX = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the document, and a time."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a .motion folder, zip or single file")
    parser.add_argument("--comp", metavar="ID", help="the composition (default: the document's first)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument("--time", metavar="T", type=options.seconds, help="seconds: print the evaluated frame")


def run(arguments: argparse.Namespace) -> int:
    """Print; 1 with a message for what cannot be read."""
    try:
        document = read_local(arguments.file)
        composition = build(document, arguments.comp)
        if arguments.json:
            held = facts(document, composition) if arguments.time is None else frame_facts(composition, arguments.time)
            print(json.dumps(held, indent=2, ensure_ascii=False, default=str))
            return 0
        lines = overview(document, composition) if arguments.time is None else frame(composition, arguments.time)
        print("\n".join(lines))
    except DocumentError as error:
        print(f"inspect: {arguments.file}: {error.message}", file=sys.stderr)
        return 1
    return 0


def overview(document: Document, composition: Composition) -> Iterator[str]:
    """Compositions, the layers of the one chosen, inputs, and what will not be drawn."""
    yield "compositions"
    for key, held in compositions(document).items():
        mark = "*" if key == chosen(document, composition.id).id else " "
        frames = frame_count(held.duration_seconds, held.fps)
        size = f"{held.width:g}x{held.height:g}"
        yield f" {mark} {key}: {held.name!r}, {size}, {held.fps:g} fps, {held.duration_seconds:g} s, {frames} frames"
    yield f"layers of {composition.id}, the last one in front"
    yield from _entries(composition.plan.entries, "  ") or ["  none"]
    yield "inputs"
    yield from [f"  {_field(held)}" for held in fields_of(document, composition.id)] or ["  none"]
    yield "not drawn, or not as asked"
    unrenderable = [f"  {name!r}: {reason}" for name, reason in template.unrenderable_layers(document)]
    notices = [f"  {notice.message}" for notice in of_document(document)]
    yield from [*(f"  {warning}" for warning in composition.warnings), *notices, *unrenderable] or ["  nothing"]


def facts(document: Document, composition: Composition) -> dict[str, object]:
    """Return the same as `overview`, as a JSON object."""
    found = [
        {"code": notice.code, "message": notice.message, "layer": notice.layer}
        for notice in (*of_lines(composition.warnings), *of_document(document))
    ]
    found += [
        {"code": OTHER_CODE, "message": reason, "layer": name}
        for name, reason in template.unrenderable_layers(document)
    ]
    return {
        "composition": composition.id,
        "compositions": [
            {
                "id": key, "name": held.name, "width": held.width, "height": held.height, "fps": held.fps,
                "durationSeconds": held.duration_seconds, "frames": frame_count(held.duration_seconds, held.fps),
            }
            for key, held in compositions(document).items()
        ],
        "layers": _entry_facts(composition.plan.entries),
        "inputs": [
            {"id": one.id, "kind": one.kind, "label": one.label, "required": one.required, "default": one.default}
            for one in fields_of(document, composition.id)
        ],
        "warnings": found,
    }  # fmt: skip


def frame_facts(composition: Composition, time_seconds: float) -> dict[str, object]:
    """Return the evaluated frame as a JSON object: every field of the snapshot."""
    evaluated = dataclasses.asdict(snapshot(composition, time_seconds))
    return {"composition": composition.id, "time": time_seconds, "frame": evaluated}


def _entry_facts(entries: tuple[Entry, ...]) -> list[dict[str, object]]:
    return [
        {
            "id": entry.layer.id, "name": entry.layer.name, "kind": entry.layer.kind, "shown": entry.shown,
            **({} if entry.unit is None else {"layers": _entry_facts(entry.unit)}),
        }
        for entry in entries
    ]  # fmt: skip


def _entries(entries: tuple[Entry, ...], indent: str) -> list[str]:
    lines = []
    for entry in entries:
        kind = type(entry.layer.content).__name__.removesuffix("Content").lower()
        lines.append(f"{indent}{entry.layer.id}: {entry.layer.name!r}, {kind}{'' if entry.shown else ', hidden'}")
        if entry.unit is not None:
            lines += _entries(entry.unit, indent + "  ")
    return lines


def _field(field: template.InputField) -> str:
    default = "" if field.default is None else f", default {_short(field.default)}"
    return f"{field.id}: {field.kind}, {field.label!r}{', required' if field.required else ''}{default}"


def frame(composition: Composition, time_seconds: float) -> Iterator[str]:
    """Yield the evaluated frame, a line a layer and one for each property that is not at its default."""
    yield f"{composition.id} at {time_seconds:g} s"
    yield from _snapshot(snapshot(composition, time_seconds), "  ")


def _snapshot(evaluated: Snapshot, indent: str) -> Iterator[str]:
    yield f"{indent}{evaluated.width:g}x{evaluated.height:g}, background {evaluated.background}"
    for layer in evaluated.layers:
        yield from _layer(layer, indent)


def _layer(layer: LayerSnapshot, indent: str) -> Iterator[str]:
    yield f"{indent}{layer.id}: {layer.name!r}, {type(layer.source).__name__}{'' if layer.visible else ', not shown'}"
    placed = layer.transform if isinstance(layer.transform, Transform2D) else layer.transform.flat
    yield f"{indent}    at {placed.x:g}, {placed.y:g}, rotation {placed.rotation:g}, scale {placed.scale_x:g} {placed.scale_y:g}"
    for name, value in _set(layer):
        yield f"{indent}    {name}: {value}"
    if isinstance(layer.source, CompositionSource):
        yield from _snapshot(layer.source.composition, indent + "    ")
        return
    for name, value in _set(layer.source):
        yield f"{indent}    {name}: {value}"


def _set(record: object) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record that are not at their defaults."""
    for field in dataclasses.fields(record):  # type: ignore[arg-type]  # every snapshot record is a dataclass
        value = getattr(record, field.name)
        if field.name not in ("id", "name", "source", "transform", "visible") and value != field.default:
            yield field.name, _short(value)


def _short(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."
