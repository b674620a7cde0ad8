"""Show what a document contains: compositions, layers, inputs, and what will not be drawn. With --time, show an evaluated frame."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from gpu_renderer.commands import options
from gpu_renderer.commands.local import fields_of, read_local
from gpu_renderer.content.svg import undrawn_features
from motion import template
from motion.build import build
from motion.evaluate.frame import snapshot
from motion.model.composition import Composition, Entry
from motion.model.content import MediaContent
from motion.notices import OTHER_CODE, Notice, of_document, of_lines
from motion.schema.compositions import compositions
from motion.snapshot import CompositionSource, LayerSnapshot, Snapshot, Transform2D
from motion.stored import Document
from motion.timing import frame_count

TEXT_MAX = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the document and the time."""
    parser.add_argument("file", metavar="FILE", type=Path, help="a .motion folder, zip or single file")
    parser.add_argument("--comp", metavar="ID", help="the composition (default: comp_root, else the document's first)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument("--time", metavar="T", type=options.seconds, help="seconds: print the evaluated frame")


def run(arguments: argparse.Namespace) -> int:
    """Print the report. Return 1 with a message if the document cannot be read."""

    def show() -> None:
        document = read_local(arguments.file)
        composition = build(document, arguments.comp)
        if arguments.time is None:
            report = facts(document, composition)
            lines = overview(report)
        else:
            evaluated = snapshot(composition, arguments.time)
            report = {"composition": composition.id, "time": arguments.time, "frame": dataclasses.asdict(evaluated)}
            lines = chain([f"{composition.id} at {arguments.time:g} s"], _snapshot(evaluated, "  "))
        print(json.dumps(report, indent=2, ensure_ascii=False, default=str) if arguments.json else "\n".join(lines))

    return options.status_of("inspect", arguments.file, show)


def facts(document: Document, composition: Composition) -> dict[str, Any]:
    """Return compositions, layers of the selected one, inputs and unsupported features as a JSON object."""
    notices = [
        *of_lines(composition.warnings),
        *of_document(document),
        *_svg_notices(composition.plan.entries),
        *(Notice(OTHER_CODE, reason, name) for name, reason in template.unrenderable_layers(document)),
    ]
    return {
        "composition": composition.id,
        "compositions": [
            {
                "id": key, "name": composition.name, "width": composition.width, "height": composition.height, "fps": composition.fps,
                "durationSeconds": composition.duration_seconds, "frames": frame_count(composition.duration_seconds, composition.fps),
            }
            for key, composition in compositions(document).items()
        ],
        "layers": _layers(composition.plan.entries),
        "inputs": [
            {"id": one.id, "kind": one.kind, "label": one.label, "required": one.required, "default": one.default}
            for one in fields_of(document, composition.id)
        ],
        "warnings": [dataclasses.asdict(notice) for notice in notices],
    }  # fmt: skip


def _svg_notices(entries: tuple[Entry, ...]) -> Iterator[Notice]:
    """Yield a notice for each unsupported feature of an SVG layer."""
    for entry in entries:
        content = entry.layer.content
        if isinstance(content, MediaContent) and content.markup is not None:
            yield from (Notice(OTHER_CODE, line, entry.layer.name) for line in undrawn_features(content.markup))
        yield from _svg_notices(entry.unit or ())


def _layers(entries: tuple[Entry, ...]) -> list[dict[str, Any]]:
    return [
        {
            "id": entry.layer.id, "name": entry.layer.name, "kind": entry.layer.kind, "shown": entry.shown,
            **({} if entry.unit is None else {"layers": _layers(entry.unit)}),
        }
        for entry in entries
    ]  # fmt: skip


def overview(report: dict[str, Any]) -> Iterator[str]:
    """Yield the report of `facts` as text lines."""
    yield "compositions"
    for one in report["compositions"]:
        mark = "*" if one["id"] == report["composition"] else " "
        size = f"{one['width']:g}x{one['height']:g}, {one['fps']:g} fps, {one['durationSeconds']:g} s"
        yield f" {mark} {one['id']}: {one['name']!r}, {size}, {one['frames']} frames"
    yield f"layers of {report['composition']}, the last one in front"
    yield from [*_layer_lines(report["layers"], "  ")] or ["  none"]
    yield "inputs"
    for one in report["inputs"]:
        default = "" if one["default"] is None else f", default {_short(one['default'])}"
        yield f"  {one['id']}: {one['kind']}, {one['label']!r}{', required' * one['required']}{default}"
    yield from [] if report["inputs"] else ["  none"]
    yield "not drawn, or not as asked"
    for one in report["warnings"]:
        layer, message = one["layer"], one["message"]
        yield f"  {message}" if layer is None or f"“{layer}”" in message else f"  {layer!r}: {message}"
    yield from [] if report["warnings"] else ["  nothing"]


def _layer_lines(layers: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for one in layers:
        yield f"{indent}{one['id']}: {one['name']!r}, {one['kind']}{'' if one['shown'] else ', hidden'}"
        yield from _layer_lines(one.get("layers", []), indent + "  ")


def _snapshot(evaluated: Snapshot, indent: str) -> Iterator[str]:
    yield f"{indent}{evaluated.width:g}x{evaluated.height:g}, background {evaluated.background}"
    yield from _changed(evaluated, indent + "  ", ("width", "height", "background", "layers"))
    for layer in evaluated.layers:
        yield from _layer(layer, indent)


def _layer(layer: LayerSnapshot, indent: str) -> Iterator[str]:
    yield f"{indent}{layer.id}: {layer.name!r}, {type(layer.source).__name__}{'' if layer.visible else ', not shown'}"
    indent += "    "
    placed = layer.transform if isinstance(layer.transform, Transform2D) else layer.transform.flat
    yield f"{indent}at {placed.x:g}, {placed.y:g}, rotation {placed.rotation:g}, scale {placed.scale_x:g} {placed.scale_y:g}"
    yield from _changed(layer.transform, indent, ("x", "y", "rotation", "scale_x", "scale_y", "flat"))
    yield from _changed(layer, indent, ("id", "name", "source", "transform", "visible"))
    if isinstance(layer.source, CompositionSource):
        yield from _snapshot(layer.source.composition, indent)
    else:
        yield from _changed(layer.source, indent, ())


def _changed(record: object, indent: str, without: Sequence[str]) -> Iterator[str]:
    """Yield a line for each field of a record, except those in `without`, whose value is not the default."""
    for field in dataclasses.fields(record):  # type: ignore[arg-type]  # every snapshot record is a dataclass
        value = getattr(record, field.name)
        if field.name not in without and value != field.default:
            yield f"{indent}{field.name}: {_short(value)}"


def _short(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."
