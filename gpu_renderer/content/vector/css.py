"""CSS colour strings as the browser's 2D canvas reads them: encoded sRGB, 8-bit channels as multiples of 1/255."""

from __future__ import annotations

import colorsys
import math
import re
from functools import lru_cache

import numpy as np

from gpu_renderer.geometry.color import Rgba, encoded_array, of_hex
from motion.color_text import NAMES

BLACK = Rgba(0.0, 0.0, 0.0)
TRANSPARENT = Rgba(0.0, 0.0, 0.0, 0.0)
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_FUNCTION = re.compile(r"(rgba?|hsla?|hwb|oklab|oklch)\(([^()]*)\)\Z")
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)(%|deg|turn|rad|grad|)\Z")
DEGREES = {"deg": 1.0, "": 1.0, "turn": 360.0, "rad": math.degrees(1.0), "grad": 0.9}

_SYSTEM = {
    **dict.fromkeys(("canvas", "field", "window", "infobackground", "menu"), "ffffff"),
    **dict.fromkeys(("canvastext", "fieldtext", "buttontext", "marktext", "windowtext", "infotext", "menutext"), "000000"),
    **dict.fromkeys(("highlighttext", "selecteditemtext"), "ffffff"),
    "activetext": "ff0000", "buttonface": "efefef", "graytext": "808080", "highlight": "0041c6cc", "linktext": "0000ee",
    "mark": "ffff00", "selecteditem": "1967d2", "visitedtext": "551a8b",
}  # fmt: skip
"""System colours of the reference's browser (CSS Color 4, 6.2)."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Rgba | None:
    """Return the colour, or None where a canvas would refuse the string and keep its previous paint."""
    text = text.strip().lower()
    if _HEX.match(text):
        return of_hex(text[1:])
    if match := _FUNCTION.match(text):
        return _from_function(match[1], match[2])
    named = NAMES.get(text) or _SYSTEM.get(text)
    return of_hex(named) if named else None


def _from_function(name: str, inside: str) -> Rgba | None:
    words = [word for word in re.split(r"[\s,/]+", inside.strip()) if word]
    matches = [_NUMBER.match(word) for word in words]
    parts = [(float(match[1]), match[2]) for match in matches if match]
    if len(parts) != len(words) or len(parts) not in (3, 4):
        return None
    alpha = _alpha(*parts[3]) if len(parts) == 4 else 1.0
    if name.startswith("ok"):
        return _from_oklab(name, parts, alpha)
    if name == "hwb":
        return _from_hwb(parts, alpha)
    if name.startswith("rgb"):
        red, green, blue = (_byte(value / 100 * 255 if unit == "%" else value) for value, unit in parts[:3])
        return Rgba(red, green, blue, alpha)
    return _from_hsl(parts, alpha)


def _from_hsl(parts: list[tuple[float, str]], alpha: float) -> Rgba | None:
    if parts[0][1] == "%":
        return None
    hue = parts[0][0] * DEGREES[parts[0][1]] / 360.0
    saturation, lightness = (min(1.0, max(0.0, value / 100.0)) for value, _ in parts[1:3])
    channels = colorsys.hls_to_rgb(hue % 1.0, lightness, saturation)
    red, green, blue = (_byte(channel * 255.0) for channel in channels)
    return Rgba(red, green, blue, alpha)


def _from_hwb(parts: list[tuple[float, str]], alpha: float) -> Rgba | None:
    """Hue, whiteness and blackness (CSS Color 4, 8)."""
    if parts[0][1] == "%":
        return None
    hue = parts[0][0] * DEGREES[parts[0][1]] / 360.0
    white, black = (min(1.0, max(0.0, value / 100.0)) for value, _ in parts[1:3])
    if white + black >= 1:
        white, black = white / (white + black), black / (white + black)
    pure = colorsys.hls_to_rgb(hue % 1.0, 0.5, 1.0)
    red, green, blue = (_byte((channel * (1 - white - black) + white) * 255.0) for channel in pure)
    return Rgba(red, green, blue, alpha)


def _from_oklab(name: str, parts: list[tuple[float, str]], alpha: float) -> Rgba | None:
    """Oklab or its polar form, each channel cut to sRGB as a canvas does (CSS Color 4, 9.4)."""
    lightness, unit = parts[0]
    light = min(1.0, max(0.0, lightness / 100.0 if unit == "%" else lightness))
    if name == "oklch":
        chroma = max(0.0, parts[1][0] * (0.004 if parts[1][1] == "%" else 1.0))
        if parts[2][1] == "%":
            return None
        angle = math.radians(parts[2][0] * DEGREES[parts[2][1]])
        a, b = chroma * math.cos(angle), chroma * math.sin(angle)
    else:
        a, b = (value * (0.004 if kind == "%" else 1.0) for value, kind in parts[1:3])
    long, middle, short = (
        (light + p * a + q * b) ** 3
        for p, q in ((0.3963377774, 0.2158037573), (-0.1055613458, -0.0638541728), (-0.0894841775, -1.2914855480))
    )
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    red, green, blue = (_byte(channel * 255.0) for channel in encoded_array(np.clip(linear, 0.0, 1.0)))
    return Rgba(red, green, blue, alpha)


def _alpha(value: float, unit: str) -> float:
    return min(1.0, max(0.0, value / 100.0 if unit == "%" else value))


def _byte(value: float) -> float:
    return math.floor(min(255.0, max(0.0, value)) + 0.5) / 255.0
