"""Filter functions of CSS, such as `blur(4px)`, as Skia image filters."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import skia

from gpu_renderer.content.svg.filters import color_matrix
from gpu_renderer.content.svg.servers import color_of
from gpu_renderer.content.svg.values import Style, degrees, font_size, length
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import BOX_SIGMA, blur_filter
from gpu_renderer.content.vector.paints import packed

_ITEM = re.compile(r"(?<![a-zA-Z-])([a-zA-Z-]++)\(((?:[^()]|\([^()]*+\))*+)\)")
_WORD = re.compile(r"(?:[^\s()]|\([^()]*\))+")
_LENGTH = re.compile(r"[+-]?[0-9.]")
FILTERS_MAX: Final = 16
_SEPIA: Final = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
_AT_MOST_WHOLE: Final = ("grayscale", "sepia", "invert", "opacity")
_COLORS: Final = ("grayscale", "sepia", "saturate", "hue-rotate", "invert", "opacity", "brightness", "contrast")
_KNOWN: Final = (*_COLORS, "blur", "drop-shadow", "url")


def filter_list(value: str) -> list[tuple[str, str]]:
    """Return name and argument of each filter of the property in order.

    The list is empty without filters, with an unknown one, or with too many.
    """
    found = [(match[1].lower(), match[2].strip()) for match in _ITEM.finditer(value)]
    is_whole = (
        not _ITEM.sub("", value).strip() and len(found) <= FILTERS_MAX and all(name in _KNOWN for name, _ in found)
    )
    return found if is_whole else []


def is_blurring(name: str) -> bool:
    """Return True if a function reads neighbouring pixels."""
    return name in ("blur", "drop-shadow")


def function_filter(name: str, inside: str, style: Style) -> skia.ImageFilter | None:
    """Return the image filter of a function, or None if it changes nothing."""
    if name == "blur":
        sigma = max(0.0, length(inside, 0.0, 0.0, font_size(style)))
        return blur_filter(sigma, sigma, None) if sigma else None
    if name == "drop-shadow":
        return _drop_shadow(inside, style)
    return skia.ImageFilters.ColorFilter(skia.ColorFilters.Matrix(_matrix(name, inside)), None)


def _drop_shadow(inside: str, style: Style) -> skia.ImageFilter:
    words = _WORD.findall(inside)
    lengths = [length(word, 0.0, 0.0, font_size(style)) for word in words if _LENGTH.match(word)]
    stated = next((word for word in words if not _LENGTH.match(word)), "currentcolor")
    x, y, sigma = [*lengths, 0.0, 0.0, 0.0][:3]
    color = packed(color_of(stated, style) or css.BLACK)
    return skia.ImageFilters.DropShadow(x, y, *[max(0.0, sigma) / BOX_SIGMA] * 2, color, None)


def _matrix(name: str, inside: str) -> list[float]:
    """Return the 4 x 5 matrix of a colour function (Filter Effects 13.1), in row order."""
    if name == "hue-rotate":
        return color_matrix("hueRotate", [degrees(inside)])
    amount = max(0.0, length(inside, 1.0, 1.0))
    amount = min(1.0, amount) if name in _AT_MOST_WHOLE else amount
    if name in ("grayscale", "saturate"):
        return color_matrix("saturate", [1.0 - amount if name == "grayscale" else amount])
    if name == "sepia":
        rows = np.pad(_SEPIA * amount + np.eye(3) * (1.0 - amount), ((0, 0), (0, 2)))
        return [*rows.ravel().tolist(), 0.0, 0.0, 0.0, 1.0, 0.0]
    factor, shift, alpha = {
        "invert": (1.0 - 2.0 * amount, amount, 1.0),
        "opacity": (1.0, 0.0, amount),
        "brightness": (amount, 0.0, 1.0),
        "contrast": (amount, 0.5 - 0.5 * amount, 1.0),
    }[name]
    rows = np.eye(3, 5) * factor
    rows[:, 4] = shift
    return [*rows.ravel().tolist(), 0.0, 0.0, 0.0, alpha, 0.0]
