"""CSS colour strings as the browser's 2D canvas reads them: encoded sRGB, 8-bit channels as multiples of 1/255."""

from __future__ import annotations

import colorsys
import math
import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.vector import oklab
from gpu_renderer.geometry.color import Rgba, decoded_array, encoded_array, of_hex
from motion.color_text import NAMES

BLACK = Rgba(0.0, 0.0, 0.0)
_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_FUNCTION = re.compile(r"(rgba?|hsla?|hwb|oklab|oklch|lab|lch)\(([^()]*)\)\Z")
_NUMBER = re.compile(r"([+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?)(%|deg|turn|rad|grad|)\Z")
_IN_SPACE = re.compile(r"color\(\s*(srgb|srgb-linear|display-p3)\s([^()]*)\)\Z")
DEGREES = {"deg": 1.0, "": 1.0, "turn": 360.0, "rad": math.degrees(1.0), "grad": 0.9}

_SYSTEM = {
    **dict.fromkeys(("canvas", "field", "window", "infobackground", "menu"), "ffffff"),
    **dict.fromkeys(("canvastext", "fieldtext", "buttontext", "marktext", "windowtext", "infotext", "menutext"), "000000"),
    **dict.fromkeys(("highlighttext", "selecteditemtext"), "ffffff"),
    "activetext": "ff0000", "buttonface": "efefef", "graytext": "808080", "highlight": "0041c6cc", "linktext": "0000ee",
    "mark": "ffff00", "selecteditem": "1967d2", "visitedtext": "551a8b",
}  # fmt: skip
"""System colours in the reference's browser (CSS Color 4, 6.2)."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Rgba | None:
    """Return the colour, or None for a text that a canvas rejects, which then keeps its previous paint."""
    text = text.strip().lower()
    if _HEX.match(text):
        return of_hex(text[1:])
    if match := _FUNCTION.match(text):
        return _from_function(match[1], match[2])
    if match := _IN_SPACE.match(text):
        return _from_space(match[1], match[2])
    named = NAMES.get(text) or _SYSTEM.get(text)
    return of_hex(named) if named else None


def _parts(inside: str) -> list[tuple[float, str]] | None:
    """Return the three or four numbers of a function with their units, or None for invalid text."""
    words = [word for word in re.split(r"[\s,/]+", inside.strip()) if word]
    matches = [_NUMBER.match(word) for word in words]
    parts = [(float(match[1]), match[2]) for match in matches if match]
    return parts if len(parts) == len(words) and len(parts) in (3, 4) else None


def _from_function(name: str, inside: str) -> Rgba | None:
    if (parts := _parts(inside)) is None:
        return None
    alpha = _alpha(*parts[3]) if len(parts) == 4 else 1.0
    if name in ("lab", "lch"):
        return _from_lab(name, parts, alpha)
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
    """Return a colour given by hue, whiteness and blackness (CSS Color 4, 8)."""
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
    """Return a colour in Oklab or its polar form, each channel clipped to sRGB as on a canvas (CSS Color 4, 9.4)."""
    lightness, unit = parts[0]
    light = min(1.0, max(0.0, lightness / 100.0 if unit == "%" else lightness))
    axes = _polar_axes(parts, 0.004) if name == "oklch" else _axes(parts, 0.004)
    return None if axes is None else _cut(oklab.to_linear(np.array((light, *axes))), alpha)


def _from_lab(name: str, parts: list[tuple[float, str]], alpha: float) -> Rgba | None:
    """Return a colour in CIE Lab or its polar form (white point D50), each channel clipped to sRGB (CSS Color 4, 9.3)."""
    axes = _polar_axes(parts, 1.5) if name == "lch" else _axes(parts, 1.25)
    if axes is None:
        return None
    middle = (min(100.0, max(0.0, parts[0][0])) + 16.0) / 116.0
    roots = np.array((middle + axes[0] / 500.0, middle, middle - axes[1] / 200.0))
    xyz = np.where(roots > 6.0 / 29.0, roots**3, (116.0 * roots - 16.0) * 27.0 / 24389.0) * _D50
    return _cut(_FROM_XYZ_D50 @ xyz, alpha)


def _axes(parts: list[tuple[float, str]], of_percent: float) -> tuple[float, float]:
    """Return the two colour axes, from the second and third number. `of_percent`: value of 1 %."""
    (a, a_unit), (b, b_unit) = parts[1:3]
    return a * (of_percent if a_unit == "%" else 1.0), b * (of_percent if b_unit == "%" else 1.0)


def _polar_axes(parts: list[tuple[float, str]], of_percent: float) -> tuple[float, float] | None:
    """Return the axes of a chroma and a hue, or None for a hue in percent."""
    (chroma, unit), (hue, hue_unit) = parts[1:3]
    if hue_unit == "%":
        return None
    chroma, angle = max(0.0, chroma * (of_percent if unit == "%" else 1.0)), math.radians(hue * DEGREES[hue_unit])
    return chroma * math.cos(angle), chroma * math.sin(angle)


def _from_space(name: str, inside: str) -> Rgba | None:
    """Return a colour of `color(SPACE R G B / A)`, clipped to sRGB."""
    if (parts := _parts(inside)) is None:
        return None
    alpha = _alpha(*parts[3]) if len(parts) == 4 else 1.0
    channels = np.array([value / 100.0 if unit == "%" else value for value, unit in parts[:3]])
    linear = channels if name == "srgb-linear" else np.sign(channels) * decoded_array(np.abs(channels))
    return _cut(_FROM_P3 @ linear if name == "display-p3" else linear, alpha)


def _cut(linear: npt.NDArray[np.float64], alpha: float) -> Rgba:
    red, green, blue = (_byte(channel * 255.0) for channel in encoded_array(np.clip(linear, 0.0, 1.0)))
    return Rgba(red, green, blue, alpha)


_FROM_P3 = np.array(
    [
        [1.2249401763, -0.2249401763, 0.0],
        [-0.0420569547, 1.0420569547, 0.0],
        [-0.0196375546, -0.0786360456, 1.0982736001],
    ]
)
"""Linear Display P3 to linear sRGB."""
_D50 = np.array((0.9642956764, 1.0, 0.8251046025))
_FROM_XYZ_D50 = np.array(
    [
        [3.1341359569, -1.6173863321, -0.4906619460],
        [-0.9787955503, 1.9162543773, 0.0334427312],
        [0.0719553798, -0.2289767598, 1.4053851384],
    ]
)
"""XYZ (white point D50) to linear sRGB."""


def _alpha(value: float, unit: str) -> float:
    return min(1.0, max(0.0, value / 100.0 if unit == "%" else value))


def _byte(value: float) -> float:
    return math.floor(min(255.0, max(0.0, value)) + 0.5) / 255.0
