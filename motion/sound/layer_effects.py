"""The effect chain of an audio layer, as stored (audio.md 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, cast

from motion.schema.nodes import Node
from motion.sound.curves import Curve, constant
from motion.sound.effects import DEFAULTS
from motion.sound.voice import AudioEffect, Wave
from motion.stored import Record, finite, flag, record, records, text

EFFECTS_MAX: Final = 64
_WAVES: Final = ("sine", "triangle", "sawtooth", "square")
_FIXED: Final = frozenset({"decay", "preDelay"})
"""Parameters that do not move."""

Sampled = Callable[[str], Curve | None]
"""Function from a property path of the layer to its curve while the voice sounds, or None if it is constant."""


def effects_of(node: Node, sampled: Sampled) -> tuple[AudioEffect, ...]:
    """Return the enabled effects of known types with every parameter."""
    return tuple(_effect(effect, sampled) for effect in _enabled(node))


def plays_backwards(node: Node) -> bool:
    """Return True if the chain turns the file round; its place in the list does not matter."""
    return any(text(effect, "type") == "backwards" for effect in _enabled(node))


def _enabled(node: Node) -> Iterator[Record]:
    for audio_effect in records(node.fx, "audioEffects")[:EFFECTS_MAX]:
        is_known = isinstance(audio_effect.get("id"), str) and text(audio_effect, "type") in DEFAULTS
        if is_known and flag(audio_effect, "enabled", True):
            yield audio_effect


def _effect(doc: Record, sampled: Sampled) -> AudioEffect:
    kind, effect_id = text(doc, "type"), text(doc, "id")
    stored = record(doc, "params")
    parameters = {}
    for name, default in DEFAULTS[kind].items():
        moved = None if name in _FIXED else sampled(f"audiofx.{effect_id}.{name}")
        value = finite(stored.get(name))
        parameters[name] = moved or constant(default if value is None else value)
    wave = text(doc, "wave")
    return AudioEffect(effect_id, kind, parameters, text(doc, "mode"), cast(Wave, wave) if wave in _WAVES else "sine")
