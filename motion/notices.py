"""Notices of content that a video leaves out or shows differently: a code for programs, a sentence for people.

The renderer reports sentences. `of_line` gives each its code and the layer that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from motion.schema.nodes import Node, nodes
from motion.stored import Document
from motion.template import NO_SOURCE, InputField, unrenderable_layers

LAYERS_NAMED_MAX: Final = 5
LINES_MAX: Final = 200
LINE_CHARACTERS_MAX: Final = 1000
"""Limits of the sentences about one video. Schedulers read those of every segment, and lists of jobs repeat them."""

CODES: Final = (
    ("sound_not_rendered", r"^The sound of "),
    ("sound_clipped", r"^The sound is clipped"),
    ("glyph_missing", r"^No installed font has "),
    ("font_substituted", r"^The font family "),
    ("media_missing", r"^There is nothing at |has no picture at some time|shows nothing: it has no source"),
    ("media_undecodable", r"^(https?://|data:|/files/|an SVG layer)[^ ]*: |^Layer “.*”( \(.*\))?: "),
    ("text_cut", r"is cut after \d+"),
    ("text_empty", r"shows nothing: its text is empty"),
    ("document_damaged", r"in the bundle could not be read"),
    ("composition_missing", r"places a composition |innermost( copies)? are painted black"),
    ("effect_not_drawn", r"^The (effect|layer style) "),
    ("blend_mode_unknown", r"^The blend mode "),
    ("plugin_not_drawn", r"comes from a plugin"),
)
"""Codes and the sentences that have them. Any other sentence is about a feature of the format: `feature_not_drawn`."""

OTHER_CODE: Final = "feature_not_drawn"
_IN_BUNDLE: Final = re.compile(r"There is nothing at (\./)?(assets/|motion-blob:)", re.IGNORECASE)
_NAMED: Final = re.compile(r"[Ll]ayer “([^”]*)”")


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that a video lacks. `layer` is the name of the layer, None if several are concerned or none."""

    code: str
    message: str
    layer: str | None = None


def of_line(line: str) -> Notice:
    """Return the notice for a sentence of the renderer."""
    code = next((code for code, pattern in CODES if re.search(pattern, line)), OTHER_CODE)
    named = _NAMED.search(line)
    return Notice(code, line, named.group(1) if named else None)


def is_in_bundle(line: str) -> bool:
    """Return True for a sentence about a file inside the bundle. Templates have such a source only where each render gives
    another one."""
    return bool(_IN_BUNDLE.match(line))


def bounded(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the different sentences in order, long ones cut. Beyond LINES_MAX the last one says how many there are."""
    found = list(dict.fromkeys(lines))
    shown = found if len(found) <= LINES_MAX else [*found[: LINES_MAX - 1], f"{len(found) - LINES_MAX + 1:,} more."]
    return tuple(line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]}…" for line in shown)


def of_lines(lines: Iterable[str]) -> tuple[Notice, ...]:
    """Return a notice for each different sentence, in order, with the limits of `bounded`."""
    return tuple(map(of_line, bounded(lines)))


def of_document(document: Document) -> tuple[Notice, ...]:
    """Return the notices that are known without drawing: the sound of its layers (audio.md 1 and 2.2)."""
    names = [node.name for node in nodes(document).values() if node.visible and _has_sound(node)]
    if not names:
        return ()
    shown = ", ".join(f"“{name}”" for name in names[:LAYERS_NAMED_MAX])
    rest = f" and {len(names) - LAYERS_NAMED_MAX} more" if len(names) > LAYERS_NAMED_MAX else ""
    message = (
        f"The sound of {'layer' if len(names) == 1 else 'layers'} {shown}{rest} is not rendered: the video is silent."
    )
    return (Notice("sound_not_rendered", message, names[0] if len(names) == 1 else None),)


def of_sources(document: Document, composition_id: str | None, given: Iterable[InputField] = ()) -> tuple[Notice, ...]:
    """Return a notice for each drawn picture and video layer without a source, such as that of an optional input without a value.

    `given`: the inputs whose values are not in the document yet.
    """
    empty = [name for name, reason in unrenderable_layers(document, given, composition_id) if reason == NO_SOURCE]
    return of_lines(f"Layer “{name}” shows nothing: {NO_SOURCE}." for name in empty)


def _has_sound(node: Node) -> bool:
    if node.kind == "audio":
        audio = node.component("Audio")
        return bool(audio.get("__assetId") or audio.get("__src")) and not node.is_muted
    has_asset = node.string("assetId") or node.string("__assetId")
    return node.kind == "video" and bool(has_asset) and not node.is_muted
