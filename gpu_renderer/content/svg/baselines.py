"""Baselines of a font, and the shifts of a style."""

from __future__ import annotations

from typing import NamedTuple

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.frame import Frame
from gpu_renderer.content.svg.lengths import font_size, length
from gpu_renderer.content.text.families import Chain


class Extent(NamedTuple):
    """Ascent, descent and x-height of a font's line from its alphabetic baseline, in ems."""

    ascent: float
    descent: float
    x_height: float


def extent(chain: Chain) -> Extent:
    """Return the extent of the first face."""
    face = chain.primary.face
    found = face.shaper.get_font_extents("ltr")
    return Extent(found.ascender / face.units_per_em, -found.descender / face.units_per_em, face.x_height)


def baseline(frame: Frame, owners: tuple[tuple[Element, Frame], ...], chain: Chain) -> float:
    """Return the distance of the alphabetic baseline below the pen, user units."""
    found = extent(chain)
    named = frame.style.get("alignment-baseline") if len(owners) > 1 else None
    if named in (None, "auto", "baseline"):
        named = frame.style.get("dominant-baseline")
    places = {
        "middle": found.x_height / 2,
        "central": (found.ascent - found.descent) / 2,
        "hanging": found.ascent * 0.8,
        "mathematical": found.ascent / 2,
        **dict.fromkeys(("text-before-edge", "before-edge"), found.ascent),
        **dict.fromkeys(("text-after-edge", "after-edge", "ideographic"), -found.descent),
    }
    shift = sum(_shift(owner.style, found) for _, owner in owners[1:])
    return places.get(named or "auto", 0.0) * font_size(frame.style) - shift


def _shift(style: dict[str, str], found: Extent) -> float:
    """Return the height of a span above its parent's baseline. `super` is half of its own line, as in browsers."""
    stated, size = style.get("baseline-shift", "baseline"), font_size(style)
    half = (found.ascent + found.descent) * size / 2
    named = {"super": half, "sub": -half, "baseline": 0.0}
    return named[stated] if stated in named else length(stated, size, 0.0, size)
