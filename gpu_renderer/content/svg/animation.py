"""Animation elements of SVG documents at a time: `animate`, `animateTransform`, `set` (layers.md 10, live playback).

Each animation writes its value to its element, in document order. An animation that waits for an event never begins.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

from lxml import etree

from gpu_renderer.content.svg.document import Document, Element, name_of
from gpu_renderer.content.svg.stylesheet import KNOWN, declarations
from gpu_renderer.content.svg.values import NUMBER, numbers
from gpu_renderer.content.vector import css
from motion.formulas.easing import cubic_bezier

UNPLAYED = re.compile(r"@(?:-\w+-)?keyframes\b|<animateMotion\b")
"""Animation features that are not played."""

_INITIAL = {
    **dict.fromkeys(
        ("x", "y", "width", "height", "cx", "cy", "r", "x1", "y1", "x2", "y2", "dx", "dy", "stroke-dashoffset"), "0"
    ),
    **dict.fromkeys(
        ("opacity", "fill-opacity", "stroke-opacity", "stop-opacity", "flood-opacity", "stroke-width"), "1"
    ),
}
"""Initial values of attributes and properties that are numbers."""

SECONDS_MAX = 1e9
"""Limit of times in a document, so that sums and quotients remain finite."""
_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")
"""Attribute without a namespace prefix. Only these are animated."""
_PLAYED = re.compile(r"<(?:\w+:)?(?:animate(?:Transform)?|set)\b")
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?|\.\d+)\s*(h|min|s|ms)?\Z")
_UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001, None: 1.0}


def played(markup: str, seconds: float) -> str:
    """Return the document at a time, or the same text if it has no animation.

    Raises MediaUndecodable.
    """
    if not _PLAYED.search(markup):
        return markup
    document = Document(markup)
    for element in list(document.root.iter()):
        if name_of(element) in ("animate", "animateTransform", "set"):
            _apply(document, element, seconds)
    text: str = etree.tostring(document.root, encoding="unicode")
    return text


def _apply(document: Document, animation: Element, seconds: float) -> None:
    target = document.linked(animation)
    target = animation.getparent() if target is None else target
    is_transform = name_of(animation) == "animateTransform"
    name = animation.get("attributeName") or ("transform" if is_transform else "")
    share = _share(animation, seconds)
    if not _NAME.match(name) or target is None or share is None:
        return
    base = _stated(target, name)
    value = _value(animation, share, "" if is_transform else base)
    if value is None:
        return
    is_sum = animation.get("additive") == "sum"
    if is_transform:
        value = f"{animation.get('type') or 'translate'}({value})"
        value = f"{base} {value}" if is_sum else value
    elif is_sum:
        value = _mixed(base, value, 1.0, is_sum=True)
    target.set(name, value)
    if name in KNOWN:
        target.set("style", f"{target.get('style') or ''};{name}:{value}")


def _stated(target: Element, name: str) -> str:
    """Return the value of an attribute or property that its element states, otherwise its initial value, if that is a number."""
    style = declarations(target.get("style") or "").normal
    return style.get(name) or target.get(name) or _INITIAL.get(name, "")


def _share(animation: Element, seconds: float) -> float | None:
    """Return the progress through one run, 0 to 1, or None before the start and, unless frozen, after the end."""
    stated = [_offset(word.strip()) for word in (animation.get("begin") or "0").split(";")]
    begin = max((time for time in stated if time is not None and time <= seconds), default=None)
    if begin is None:
        return None
    run, passed = _clock(animation.get("dur")), seconds - begin
    if run is None or run <= 0:
        return 0.0 if name_of(animation) == "set" else None
    times = _times(animation, run)
    if passed < run * times:
        return math.fmod(passed, run) / run
    if animation.get("fill") != "freeze":
        return None
    rest = math.fmod(times, 1.0)
    return rest if rest > 1e-9 else 1.0


def _times(animation: Element, run: float) -> float:
    """Return the number of runs of an animation."""
    count, whole = animation.get("repeatCount"), _clock(animation.get("repeatDur"))
    if count == "indefinite" or animation.get("repeatDur") == "indefinite":
        return math.inf if whole is None else whole / run
    number = float(count) if count and NUMBER.fullmatch(count.strip()) else None
    if number is None:
        return 1.0 if whole is None else whole / run
    return max(0.0, number if whole is None else min(number, whole / run))


def _offset(text: str) -> float | None:
    """Return the seconds of a clock value with an optional sign, or None for other text. Before 0, an animation is under way at the start."""
    seconds = _clock(text.removeprefix("-"))
    return -seconds if seconds is not None and text.startswith("-") else seconds


def _clock(text: str | None) -> float | None:
    """Return the seconds of a clock value, or None for other text."""
    match = _CLOCK.match((text or "").strip().removeprefix("+"))
    if match is None:
        return None
    hours, minutes, value, unit = match.groups()
    seconds = float(hours or 0) * 3600.0 + float(minutes or 0) * 60.0 + float(value) * _UNITS[unit]
    return min(seconds, SECONDS_MAX)


def _value(animation: Element, share: float, base: str) -> str | None:
    """Return the value at a share of a run, or None if the animation states no values."""
    values = _values(animation, base)
    if not values:
        return None
    if name_of(animation) == "set" or len(values) == 1:
        return values[-1]
    if animation.get("calcMode") == "discrete":
        times = numbers(animation.get("keyTimes")) or [index / len(values) for index in range(len(values))]
        passed = [value for value, time in zip(values, times, strict=False) if time <= share]
        return passed[-1] if passed else values[0]
    times = numbers(animation.get("keyTimes"))
    if len(times) != len(values):
        times = [index / (len(values) - 1) for index in range(len(values))]
    if share >= times[-1]:
        return values[-1]
    index = next(index for index, (start, end) in enumerate(pairwise(times)) if share < end)
    start, end = times[index], times[index + 1]
    u = max(0.0, min(1.0, (share - start) / (end - start))) if end > start else 0.0  # times can be unsorted
    return _mixed(values[index], values[index + 1], _eased(animation, index, u))


def _values(animation: Element, base: str) -> list[str]:
    if (listed := animation.get("values")) is not None:
        return [value.strip() for value in listed.split(";") if value.strip()]
    first, last, by = (animation.get(name) for name in ("from", "to", "by"))
    if name_of(animation) == "set":
        return [last] if last else []
    start = base if first is None else first
    if last is None:
        last = None if by is None else _mixed(start or "0", by, 1.0, is_sum=True)
    return [] if last is None else [start or last, last]


def _eased(animation: Element, index: int, u: float) -> float:
    splines = [numbers(spline) for spline in (animation.get("keySplines") or "").split(";") if spline.strip()]
    if animation.get("calcMode") != "spline" or index >= len(splines) or len(splines[index]) != 4:
        return u
    x1, y1, x2, y2 = splines[index]
    return cubic_bezier((x1, y1, x2, y2), u)


def _mixed(a: str, b: str, u: float, *, is_sum: bool = False) -> str:
    """Interpolate two values: colours by channel, texts that differ only in numbers by number.

    Other values switch half-way. `is_sum`: add the numbers instead.
    """
    start, end = css.parse(a), css.parse(b)
    if start is not None and end is not None and not is_sum:
        red, green, blue, alpha = (p + (q - p) * u for p, q in zip(start, end, strict=True))
        return f"rgba({red * 255:.3f},{green * 255:.3f},{blue * 255:.3f},{alpha:.5f})"
    low, high = numbers(a), numbers(b)
    if len(low) != len(high) or not high:
        return b if is_sum or u >= 0.5 else a
    mixed = iter([p + q if is_sum else p + (q - p) * u for p, q in zip(low, high, strict=True)])
    return NUMBER.sub(lambda _: f"{next(mixed):.6f}", b)
