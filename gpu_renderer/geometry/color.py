"""Colours: CSS strings as the analytic route reads them, and the sRGB transfer (compositing.md 1.2, layers.md 5.2)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Channels = npt.NDArray[np.float64]
_HEX = re.compile(r"#?(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_FUNCTION = re.compile(r"rgba?\(([^()]*)\)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?%?", re.ASCII | re.IGNORECASE)

ACES_CG_ROWS = (
    (0.613097396, 0.339523469, 0.047379562),
    (0.070194066, 0.916353879, 0.013452032),
    (0.020615588, 0.109569769, 0.869814633),
)  # fmt: skip
"""Matrix from linear Rec.709 to ACEScg."""


class Rgba(NamedTuple):
    """A straight colour, 0 to 1 per channel."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


@lru_cache(4096)
def parse(text: str) -> Rgba:
    """Parse an encoded sRGB colour: `#rgb`, `#rrggbb`, `#rrggbbaa` with or without `#`, `rgb()`, `rgba()`.

    As in the reference, other text gives opaque black.
    """
    text = text.strip()
    if _HEX.fullmatch(text):
        return of_hex(text.removeprefix("#"))
    found = _FUNCTION.fullmatch(text)
    words = re.findall(r"[^\s,/]+", found[1])[:4] if found else []
    if len(words) < 3 or not all(map(_NUMBER.fullmatch, words)):
        return Rgba(0.0, 0.0, 0.0)
    return Rgba(*(_share(word, 255.0) for word in words[:3]), *(_share(word, 1.0) for word in words[3:]))


def _share(word: str, whole: float) -> float:
    """Return a number or a percentage as its share of the whole, 0 to 1."""
    value = float(word[:-1]) / 100.0 if word.endswith("%") else float(word) / whole
    return min(max(value, 0.0), 1.0)


def of_hex(digits: str) -> Rgba:
    """Return the colour of three, four, six or eight hexadecimal digits."""
    if len(digits) <= 4:
        digits = "".join(digit * 2 for digit in digits)
    channels = [int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2)]
    return Rgba(*channels)


def decoded(channel: float) -> float:
    """Convert encoded sRGB to linear light."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def decoded_array(channels: Channels) -> Channels:
    """Convert encoded sRGB to linear light."""
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def encoded_array(channels: Channels) -> Channels:
    """Convert linear light to encoded sRGB."""
    return np.where(channels <= 0.0031308, 12.92 * channels, 1.055 * channels ** (1 / 2.4) - 0.055)


def linear(color: Rgba, *, aces_cg: bool = False) -> Rgba:
    """Return the colour in the linear working space. Alpha does not change."""
    r, g, b = decoded(color.red), decoded(color.green), decoded(color.blue)
    if aces_cg:
        r, g, b = (row[0] * r + row[1] * g + row[2] * b for row in ACES_CG_ROWS)
    return Rgba(r, g, b, color.alpha)
