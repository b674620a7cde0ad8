"""Colours in the syntaxes that keyframes understand (animation.md 2.3, 2.4)."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from motion.formulas.easing import clamp_unit


class CssColor(NamedTuple):
    """Encoded sRGB channels 0..255 and a straight alpha 0..1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


_OPAQUE_BLACK = CssColor(0.0, 0.0, 0.0)
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z")
_NUMBER = r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*"
_FUNCTION = re.compile(rf"rgba?\({_NUMBER},{_NUMBER},{_NUMBER}(?:,{_NUMBER})?\)\Z", re.IGNORECASE)


def parse(text: str) -> CssColor:
    """Return the colour of `#rgb[a]`, `#rrggbb[aa]` or numeric `rgb()`/`rgba()`, opaque black for any other text."""
    text = text.strip()
    if _HEX.match(text):
        return _from_hex(text[1:])
    match = _FUNCTION.match(text)
    if match is None:
        return _OPAQUE_BLACK
    red, green, blue = (min(255.0, max(0.0, float(part))) for part in match.groups()[:3])
    return CssColor(red, green, blue, 1.0 if match[4] is None else clamp_unit(float(match[4])))


def mix(a: str, b: str, u: float) -> str:
    """Return the colour between two, straight in encoded sRGB, each channel rounded to 8 bits."""
    return write(CssColor(*(p + (q - p) * u for p, q in zip(parse(a), parse(b), strict=True))))


def write(color: CssColor) -> str:
    """Return `#rrggbb`, or `#rrggbbaa` if the colour is not opaque."""
    body = "#" + "".join(f"{_byte(channel):02x}" for channel in color[:3])
    return body if color.alpha >= 1.0 else f"{body}{_byte(color.alpha * 255.0):02x}"


def from_channels(red: float, green: float, blue: float, alpha: float = 1.0, *, always_alpha: bool = False) -> str:
    """Return the colour of sampled channels 0..1, clamped and rounded; fills and strokes always carry their alpha."""
    color = CssColor(clamp_unit(red) * 255.0, clamp_unit(green) * 255.0, clamp_unit(blue) * 255.0, clamp_unit(alpha))
    return f"{write(color)}ff" if always_alpha and color.alpha >= 1.0 else write(color)


def _from_hex(digits: str) -> CssColor:
    if len(digits) <= 4:
        digits = "".join(digit * 2 for digit in digits)
    channels = [float(int(digits[at : at + 2], 16)) for at in range(0, len(digits), 2)]
    return CssColor(channels[0], channels[1], channels[2], channels[3] / 255.0 if len(channels) == 4 else 1.0)


def _byte(channel: float) -> int:
    return math.floor(min(255.0, max(0.0, channel)) + 0.5)
