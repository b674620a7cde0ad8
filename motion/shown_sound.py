"""Sound that pictures of a stored document show (audio.md 3.2 and 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from motion.schema.nodes import Node
from motion.stored import Document, as_record, record, records, text

SPECTRUM: Final = "audio-spectrum"
"""The effect that shows the bands of an audio layer."""
_LOUDNESS: Final = re.compile(r"\baudio\b")


def sound_source(layer: Node) -> str:
    """Return the stored source of an audio layer, or an empty text."""
    return text(layer.component("Audio"), "__src")


def show_sound(layers: Iterable[Node], document: Document) -> bool:
    """Return True if one of the layers draws the sound of an audio layer, or an expression of the document names the loudness."""
    return any(map(_draws_sound, layers)) or _expressions_hear(document)


def _draws_sound(layer: Node) -> bool:
    effects = records(layer.fx, "effects")
    return "audioWaveform" in layer.fx or any(effect.get("type") == SPECTRUM for effect in effects)


def _expressions_hear(document: Document) -> bool:
    stored = record(record(document, "animation"), "expressions").values()
    return any(_LOUDNESS.search(text(as_record(one), "src")) for each in stored for one in as_record(each).values())
