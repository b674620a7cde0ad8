"""Effects and the glass style at a time (effects.md 1)."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from motion.evaluate import audio_analysis
from motion.evaluate.context import EvaluationContext, Values
from motion.formulas import css_color
from motion.model.layer import Effect
from motion.shown_sound import SPECTRUM
from motion.snapshot import EffectSnapshot, Glass
from motion.stored import stored_name

GLASS_NUMBERS, GLASS_COLORS = (
    {field.name: f"glass.{stored_name(field.name)}" for field in fields(Glass) if field.type == kind}
    for kind in ("float", "str")
)
"""Property paths of the glass style's numbers and colours, by field."""


def effects(context: EvaluationContext, stack: tuple[Effect, ...], values: Values) -> tuple[EffectSnapshot, ...]:
    """Return the effects with their animated parameters sampled, and the bands of the sounds that they show."""
    return tuple(_effect(context, effect, values) for effect in stack)


def glass(stored: Glass | None, values: Values) -> Glass | None:
    """Return the glass style with its moving members sampled."""
    if stored is None or not any(path.startswith("glass.") for path in values.layer.moving):
        return stored
    moved: dict[str, Any] = values.moving_of(GLASS_NUMBERS)
    for field, path in GLASS_COLORS.items():
        moved[field] = mixed_channels(getattr(stored, field), values, path)
    return replace(stored, **moved)


def mixed_channels(stored: str, values: Values, base: str) -> str:
    """Return a stored colour in which channel tracks replace their channels (effects.md 1.2)."""
    sampled = [values.moving(f"{base}_{channel}") for channel in "rgba"]
    if all(value is None for value in sampled):
        return stored
    color = css_color.parse(stored)
    parts = [color.red / 255.0, color.green / 255.0, color.blue / 255.0, color.alpha]
    return css_color.from_channels(
        *(part if value is None else value for part, value in zip(parts, sampled, strict=True))
    )


def _effect(context: EvaluationContext, effect: Effect, values: Values) -> EffectSnapshot:
    sampled = _sampled(effect, values)
    sounds = context.frame.sounds
    if effect.static.type != SPECTRUM or sounds is None:
        return sampled
    bands = audio_analysis.spectrum(context.frame.composition, sounds, sampled, values.time)
    others = tuple(pair for pair in sampled.stored if pair[0] != "magnitudes")
    return replace(sampled, stored=(*others, ("magnitudes", bands)))


def _sampled(effect: Effect, values: Values) -> EffectSnapshot:
    if not effect.tracks and not effect.clock and effect.legacy_path is None:
        return effect.static
    sampled = tuple((name, value) for name, path in effect.tracks if (value := values.moving(path)) is not None)
    if not sampled and not effect.clock and effect.legacy_path is not None:
        legacy = values.moving(effect.legacy_path)
        sampled = () if legacy is None else (("", legacy),)
    return replace(effect.static, animated=sampled, clock=values.time if effect.clock else None)
