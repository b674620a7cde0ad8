"""Selectors of text animators: how strongly each code point is animated (animation.md 7.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from motion.formulas import noise
from motion.formulas.easing import clamp_unit, cubic_bezier
from motion.formulas.expressions import selector_amount
from motion.formulas.text_units import Units, divide
from motion.stored import exact, finite, stored_name

Weight = tuple[float, float]
"""Factors of movements along x and along y."""


@dataclass(frozen=True, slots=True)
class RangeSelector:
    """A window over the units, in percent of them or in units."""

    based_on: str = "characters"
    mode: str = "add"
    units: str = "percentage"
    start: float = 0.0
    end: float = 100.0
    offset: float = 0.0
    amount: float = 100.0
    shape: str = "square"
    smoothness: float = 100.0
    ease_high: float = 0.0
    ease_low: float = 0.0
    randomize_order: bool = False
    random_seed: float = 0.0


@dataclass(frozen=True, slots=True)
class WigglySelector:
    """Noise over time; amounts in percent, phases in degrees."""

    based_on: str = "characters"
    mode: str = "intersect"
    max_amount: float = 100.0
    min_amount: float = -100.0
    wiggles_per_second: float = 2.0
    correlation: float = 50.0
    temporal_phase: float = 0.0
    spatial_phase: float = 0.0
    lock_dimensions: bool = False
    random_seed: float = 0.0


@dataclass(frozen=True, slots=True)
class ExpressionSelector:
    """A percentage for every unit from an expression."""

    based_on: str = "characters"
    mode: str = "intersect"
    amount: float = 100.0
    expression: str = "selectorValue"


Selector = RangeSelector | WigglySelector | ExpressionSelector
_KINDS: Mapping[str, type[Selector]] = {
    "range": RangeSelector,
    "wiggly": WigglySelector,
    "expression": ExpressionSelector,
}


def stored_selectors(animator: Mapping[str, object]) -> tuple[Selector | None, ...]:
    """Return the selectors of a stored animator, None for disabled ones. Without a list, its flat fields make one
    selector.
    """
    stored = animator.get("selectors")
    if isinstance(stored, list) and stored:
        return tuple(_selector(entry) if isinstance(entry, dict) else None for entry in stored)
    if animator.get("mode") == "wiggly":
        rate = finite(animator.get("wiggleFreq"))
        flat = {"kind": "wiggly", "basedOn": animator.get("basedOn"), "wigglesPerSecond": 2.0 if rate is None else rate}
        return (_selector(flat),)
    names = ("basedOn", "shape", "start", "end", "offset")
    return (_selector({"smoothness": 0.0, **{name: animator.get(name) for name in names}}),)


def animate(selector: Selector, values: Mapping[str, float]) -> Selector:
    """Return the selector with sampled values by stored name; names that its kind does not have are ignored."""
    numbers = _numbers(type(selector))
    known: dict[str, Any] = {numbers[name]: value for name, value in values.items() if name in numbers}
    known.pop("random_seed", None)
    return replace(selector, **known) if known else selector


def weights(selectors: Sequence[Selector], content: str, time_seconds: float) -> list[Weight]:
    """Return the weight of every code point, each channel 0..1; (1, 1) everywhere without selectors."""
    if not selectors:
        return [(1.0, 1.0)] * len(content)
    total: list[Weight] | None = None
    for selector in selectors:
        found = _selected(selector, divide(content, selector.based_on), total, time_seconds)
        if total is None:
            total = found
        else:
            combine = _MODES.get(selector.mode, _add)
            total = [(combine(ax, bx), combine(ay, by)) for (ax, ay), (bx, by) in zip(total, found, strict=True)]
    return [(clamp_unit(x), clamp_unit(y)) for x, y in total or ()]


def _selected(selector: Selector, units: Units, total: list[Weight] | None, time: float) -> list[Weight]:
    """Return one selector's weights; 0 for a code point without a unit."""
    if isinstance(selector, ExpressionSelector):
        return [
            _expressed(selector, unit, units.total, 100.0 if total is None else 100.0 * total[at][0], time)
            for at, unit in enumerate(units.of)
        ]
    if isinstance(selector, WigglySelector):
        by_unit = _wiggled(selector, set(units.of) - {-1}, time)
    else:
        by_unit = _ranged(selector, units)
    return [by_unit.get(unit, (0.0, 0.0)) for unit in units.of]


def _ranged(selector: RangeSelector, units: Units) -> dict[int, Weight]:
    offset = _in_units(selector, selector.offset, units.total)
    a, b = (_in_units(selector, edge, units.total) + offset for edge in (selector.start, selector.end))
    low, high = min(a, b), max(a, b)
    order = noise.permutation(units.total, selector.random_seed) if selector.randomize_order else range(units.total)
    result: dict[int, Weight] = {}
    for unit in set(units.of) - {-1}:
        weight = _shaped(selector, order[unit] + 0.5, low, high) if high > low else 0.0
        weight = _eased(selector, weight) * selector.amount / 100.0 if high > low else 0.0
        result[unit] = (weight, weight)
    return result


def _in_units(selector: RangeSelector, value: float, total: int) -> float:
    """Return a window's edge or offset in units. The order of the operations decides units whose centre is at an edge."""
    return value if selector.units == "index" else value / 100.0 * total


def _shaped(selector: RangeSelector, c: float, low: float, high: float) -> float:
    if selector.shape == "square":
        return _square(max(0.0, selector.smoothness) / 100.0, c, low, high)
    if not low <= c <= high:
        return 0.0
    v = (c - low) / (high - low)
    triangle = 1.0 - abs(2.0 * v - 1.0)
    if selector.shape == "rampUp":
        return v
    if selector.shape == "rampDown":
        return 1.0 - v
    if selector.shape == "triangle":
        return triangle
    if selector.shape == "round":
        return math.sqrt(max(0.0, 1.0 - (2.0 * v - 1.0) ** 2))
    return noise.smoothstep(triangle) if selector.shape == "smooth" else 1.0


def _square(edge: float, c: float, low: float, high: float) -> float:
    if edge == 0.0:
        return 1.0 if low <= c <= high else 0.0
    return min(clamp_unit((c - low) / edge + 0.5), clamp_unit((high - c) / edge + 0.5))


def _eased(selector: RangeSelector, weight: float) -> float:
    low = min(1.0, max(-1.0, selector.ease_low / 100.0))
    high = min(1.0, max(-1.0, selector.ease_high / 100.0))
    if low == 0.0 and high == 0.0:
        return clamp_unit(weight)
    third = 1.0 / 3.0
    handles = (third + low / 3.0, third - low / 3.0, 2.0 / 3.0 - high / 3.0, 2.0 / 3.0 + high / 3.0)
    return clamp_unit(cubic_bezier(handles, weight))


def _wiggled(selector: WigglySelector, units: Set[int], time: float) -> dict[int, Weight]:
    at = time * max(0.001, selector.wiggles_per_second) + selector.temporal_phase / 360.0
    if not math.isfinite(at):
        return {}
    base = 977.0 * selector.random_seed
    places = np.array([*units, 0], dtype=np.float64) + selector.spatial_phase / 360.0 + base
    places[-1] = base  # what all units share
    share = clamp_unit(selector.correlation / 100.0)
    low, high = selector.min_amount / 100.0, selector.max_amount / 100.0

    def channel(number: int) -> list[float]:
        found = noise.unit_wiggles(places, at, number)
        mixed: list[float] = (low + (high - low) * (found + (found[-1] - found) * share)).tolist()
        return mixed

    x = channel(0)
    return dict(zip(units, zip(x, x if selector.lock_dimensions else channel(1), strict=True), strict=False))


def _expressed(selector: ExpressionSelector, unit: int, count: int, so_far: float, time: float) -> Weight:
    if unit < 0:
        return 0.0, 0.0
    percent = selector_amount(selector.expression, unit, count, so_far, time)
    weight = percent / 100.0 * selector.amount / 100.0
    return weight, weight


def _add(a: float, b: float) -> float:
    return a + b


_MODES: Mapping[str, Callable[[float, float], float]] = {
    "add": _add,
    "subtract": lambda a, b: a - b,
    "intersect": lambda a, b: a * b,
    "min": min,
    "max": max,
    "difference": lambda a, b: abs(a - b),
}


def _selector(entry: Mapping[str, object]) -> Selector | None:
    if entry.get("enabled") is False:
        return None
    kind = entry.get("kind")
    selector = _KINDS.get(kind if isinstance(kind, str) else "range", RangeSelector)
    known: dict[str, Any] = {}
    for field in fields(selector):
        value = entry.get(stored_name(field.name))
        number = exact(value) if field.name == "random_seed" else finite(value)
        if field.type == "float" and number is not None:
            known[field.name] = number
        elif (field.type == "str" and isinstance(value, str)) or (field.type == "bool" and isinstance(value, bool)):
            known[field.name] = value
    return selector(**known)


def _numbers(kind: type[Selector]) -> Mapping[str, str]:
    return {stored_name(field.name): field.name for field in fields(kind) if field.type == "float"}
