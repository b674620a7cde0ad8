"""Text animators, which move every code point of a text (animation.md 7)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from motion.formulas import text_selectors
from motion.formulas.easing import clamp_unit
from motion.formulas.text_selectors import Selector, Weight
from motion.snapshot import GlyphPose
from motion.stored import finite, stored_name

POSES_MAX = 20_000
"""Most code points that are animated. Later ones stay still."""
WEIGHTS_MAX = 100_000
"""Most weights that one text computes for a frame: with very many selectors, fewer code points are animated."""


@dataclass(frozen=True, slots=True)
class Animator:
    """One stored animator: lengths in px, angles in degrees, scales and opacities in percent."""

    selectors: tuple[Selector | None, ...] = ()
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    rotation: float = 0.0
    rotation_x: float = 0.0
    rotation_y: float = 0.0
    scale: float = 100.0
    scale_y: float = 100.0
    opacity: float = 100.0
    fill_opacity: float = 100.0
    tracking: float = 0.0
    line_spacing: float = 0.0
    skew: float = 0.0
    blur: float = 0.0
    stroke_width: float = 0.0
    character_offset: float = 0.0
    color: str | None = None
    stroke_color: str | None = None
    is_enabled: bool = True


@dataclass(slots=True)
class _Values:
    """Sampled tracks of one animator: its own, and those of its selectors by index."""

    own: dict[str, float] = field(default_factory=dict)
    selectors: defaultdict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))


def text_animators(stored: object) -> tuple[Animator, ...]:
    """Return the animators of a stored `__animators` list. Disabled and invalid ones keep their places: tracks name them by index."""
    entries = stored if isinstance(stored, list) else ()
    return tuple(_animator(entry) if isinstance(entry, dict) else Animator(is_enabled=False) for entry in entries)


def glyph_poses(
    animators: Sequence[Animator], content: str, time_seconds: float, animated: Mapping[str, float]
) -> tuple[GlyphPose, ...]:
    """Return a pose for each code point of the static content. `animated` holds the layer's sampled `ta.*` paths.

    Empty if no animator is enabled.
    """
    if not any(animator.is_enabled for animator in animators):
        return ()
    poses, shifts = [GlyphPose()] * len(content), [0.0] * len(content)
    values = _values_by_animator(animated)
    shown = content[: min(POSES_MAX, WEIGHTS_MAX // weight_count(animators))]
    for index, animator in enumerate(animators):
        if animator.is_enabled:
            current, selectors = _animated(animator, values.get(index, _Values()))
            for at, weight in enumerate(text_selectors.weights(selectors, shown, time_seconds)):
                if weight[0] > 0.0 or weight[1] > 0.0:
                    poses[at] = _posed(poses[at], current, weight)
                    shifts[at] += current.character_offset * weight[0]
    return tuple(_shifted(pose, content[at], shifts[at]) for at, pose in enumerate(poses))


def weight_count(animators: Sequence[Animator]) -> int:
    """Return the number of weights of a code point: one for each selector of an enabled animator."""
    return max(1, sum(max(1, len(animator.selectors)) for animator in animators if animator.is_enabled))


def _values_by_animator(animated: Mapping[str, float]) -> dict[int, _Values]:
    """Return values by animator, from `ta.<i>.<field>` and `ta.<i>.s<j>.<param>`. Four fields belong to the first
    selector.
    """
    values: defaultdict[int, _Values] = defaultdict(_Values)
    for path, value in animated.items():
        kind, _, rest = path.partition(".")
        index, _, name = rest.partition(".")
        if kind != "ta" or not _INDEX.match(index) or not name or not math.isfinite(value):
            continue
        selector, _, parameter = name.partition(".")
        if not parameter:
            _keep(values[int(index)], name, value)
        elif selector[:1] == "s" and _INDEX.match(selector[1:]):
            at = int(selector[1:])
            if at > 0 or parameter not in _FIRST_SELECTOR.values():
                values[int(index)].selectors[at][parameter] = value
    return values


_INDEX = re.compile(r"[0-9]{1,9}\Z")
"""Index in a path. Numbers of more digits name no animator, and Python refuses to read very long ones."""
_FIRST_SELECTOR = {"start": "start", "end": "end", "offset": "offset", "wiggleFreq": "wigglesPerSecond"}


def _keep(values: _Values, name: str, value: float) -> None:
    if name in _FIRST_SELECTOR:
        values.selectors[0][_FIRST_SELECTOR[name]] = value
    elif name in _NUMBERS:
        values.own[_NUMBERS[name]] = value


def _animated(animator: Animator, values: _Values) -> tuple[Animator, list[Selector]]:
    own: dict[str, Any] = values.own
    selectors = [
        text_selectors.animate(selector, values.selectors.get(at, {}))
        for at, selector in enumerate(animator.selectors)
        if selector is not None
    ]
    return (replace(animator, **own) if own else animator), selectors


def _posed(pose: GlyphPose, animator: Animator, weight: Weight) -> GlyphPose:
    wx, wy = weight
    return GlyphPose(
        dx=pose.dx + animator.x * wx,
        dy=pose.dy + animator.y * wy,
        dz=pose.dz + animator.z * wx,
        rotation=pose.rotation + animator.rotation * wx,
        rotation_x=pose.rotation_x + animator.rotation_x * wx,
        rotation_y=pose.rotation_y + animator.rotation_y * wy,
        scale_x=pose.scale_x * _toward(animator.scale, wx),
        scale_y=pose.scale_y * _toward(animator.scale_y, wy),
        opacity=pose.opacity * _toward(animator.opacity, wx),
        fill_opacity=pose.fill_opacity * _toward(animator.fill_opacity, wx),
        tracking=pose.tracking + animator.tracking * wx,
        line_spacing=pose.line_spacing + animator.line_spacing * wy,
        skew=pose.skew + animator.skew * wx,
        blur=pose.blur + animator.blur * wx,
        stroke_width=pose.stroke_width + animator.stroke_width * wx,
        color=animator.color or pose.color,
        color_mix=pose.color_mix if animator.color is None else max(pose.color_mix, clamp_unit(wx)),
        stroke_color=animator.stroke_color or pose.stroke_color,
    )


def _toward(percent: float, weight: float) -> float:
    return 1.0 + (percent / 100.0 - 1.0) * weight


def _shifted(pose: GlyphPose, character: str, offset: float) -> GlyphPose:
    """Return the pose with its character shifted within digits, capitals or small letters, wrapping around."""
    shift = math.floor(offset + 0.5) if math.isfinite(offset) else 0
    for first, last in (("0", "9"), ("A", "Z"), ("a", "z")):
        if shift and first <= character <= last:
            count = ord(last) - ord(first) + 1
            moved = chr(ord(first) + (ord(character) - ord(first) + shift) % count)
            return replace(pose, character=moved) if moved != character else pose
    return pose


def _animator(entry: Mapping[str, object]) -> Animator:
    numbers: dict[str, Any] = {
        field: number for name, field in _NUMBERS.items() if (number := finite(entry.get(name))) is not None
    }
    numbers.setdefault("scale_y", numbers.get("scale", 100.0))
    color, stroke_color = entry.get("color"), entry.get("strokeColor")
    return Animator(
        selectors=text_selectors.stored_selectors(entry),
        color=color if isinstance(color, str) and color else None,
        stroke_color=stroke_color if isinstance(stroke_color, str) and stroke_color else None,
        is_enabled=entry.get("enabled") is not False,
        **numbers,
    )


_NUMBERS = {stored_name(entry.name): entry.name for entry in fields(Animator) if entry.type == "float"}
