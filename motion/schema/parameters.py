"""Free-form parameters as hashable values, and the effects and layer styles that hold them (effects.md 1)."""

from __future__ import annotations

from collections.abc import Iterable

from motion.model.layer import Effect
from motion.schema.nodes import Node
from motion.snapshot import EffectSnapshot, ParameterValue
from motion.stored import JsonValue, Record, finite, flag, number, record, records, text, text_or_none

TIME_EFFECTS = frozenset({"echo", "wide-time", "posterize-time", "force-motion-blur"})
DEPTH_MAX = 32


def value(stored: JsonValue, depth: int = 0) -> ParameterValue:
    """Return the value as numbers, strings and tuples; an object becomes its (key, value) pairs."""
    if isinstance(stored, bool | str) or stored is None:
        return stored
    if isinstance(stored, int | float):
        return finite(stored)
    if depth >= DEPTH_MAX:
        return None
    if isinstance(stored, list):
        return tuple(value(item, depth + 1) for item in stored)
    return tuple((key, value(item, depth + 1)) for key, item in stored.items())


def parameters(stored: Record) -> tuple[tuple[str, ParameterValue], ...]:
    """Return all members of an object, in stored order."""
    return tuple((key, value(item)) for key, item in stored.items())


def effects(node: Node, paths: tuple[str, ...]) -> tuple[Effect, ...]:
    """Return the enabled effects that touch pixels, in order. `paths`: the properties of the layer that are animated."""
    return tuple(_effect(stored, paths) for stored in enabled_effects(node) if text(stored, "type") not in TIME_EFFECTS)


def enabled_effects(node: Node) -> list[Record]:
    """Return the stored effects that are not switched off, each by itself or all by the layer's switch."""
    if node.fx.get("fxEnabled") is False:
        return []
    return [stored for stored in records(node.fx, "effects") if stored.get("enabled") is not False]


def time_effect(node: Node, effect_type: str) -> Record | None:
    """Return the first enabled effect of a time-effect type, or None if there is none."""
    return next((stored for stored in enabled_effects(node) if stored.get("type") == effect_type), None)


def numbers_of_time(effect: Record, **defaults: float) -> dict[str, float]:
    """Return the numbers of an effect that acts on time (effects.md 1.1). A stored value that is not a number counts as 0.

    A number that is not stored has its default. The default of the first one is the effect's legacy value, if it has one.
    """
    own, legacy = record(effect, "params"), finite(effect.get("amount"))
    if legacy is not None:
        defaults[next(iter(defaults))] = legacy
    return {key: number(own, key, 0.0 if key in own else default) for key, default in defaults.items()}


def _effect(stored: Record, paths: tuple[str, ...]) -> Effect:
    effect_id, effect_type = text(stored, "id"), text(stored, "type")
    own = record(stored, "params")
    clocked = effect_type == "strobe-light" or (effect_type == "timecode" and flag(own, "followCompTime", True))
    legacy = f"effect.{effect_id}"
    still = EffectSnapshot(
        id=effect_id,
        type=effect_type,
        stored=parameters(own),
        mask_id=text_or_none(stored, "maskId"),
        amount=finite(stored.get("amount")),
    )
    return Effect(still, tracks_of(effect_id, paths), legacy if legacy in paths else None, clocked)


def tracks_of(effect_id: str, paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(parameter, path) of each moving property of an effect."""
    prefix = f"effect.{effect_id}."
    return tuple((path.removeprefix(prefix), path) for path in paths if path.startswith(prefix))


def percent(stored: Record, key: str, default: float) -> float:
    """Return an opacity of 0..1 as a rounded percentage, as effects use it."""
    return float((100.0 * number(stored, key, default) + 0.5) // 1)
