"""Properties of a font file: family, weight, style, and covered code points."""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from fontTools.ttLib import TTCollection, TTFont, TTLibError

_FAMILY_NAMES = (16, 1)
"""Typographic family, and the legacy one, which may hold the weight too."""

Described = tuple[int, str, int, bool, tuple[int, ...], str]
"""Index in the file, family, weight, italic, coverage edges, SHA-256 of the file."""

log = logging.getLogger(__name__)


def described(path: Path) -> Iterator[Described]:
    """Each face of a font file. A file that is no font is skipped with a line in the log."""
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    try:
        for index, font in enumerate(_fonts(data)):
            with font:
                yield index, family_of(font), *_style_of(font), edges(font.getBestCmap() or ()), digest
    except (TTLibError, OSError, KeyError) as error:
        log.warning("the font file %s cannot be read: %s", path.name, error)


def family_of(font: TTFont) -> str:
    """Return the family's name, without weight and style words where the font keeps them apart."""
    for name_id in _FAMILY_NAMES:
        if name := font["name"].getDebugName(name_id):
            return str(name)
    return "unnamed"


def edges(code_points: Iterable[int]) -> tuple[int, ...]:
    """Sorted [start, end) edges of the runs of consecutive code points."""
    found: list[int] = []
    for point in sorted(code_points):
        if found and found[-1] == point:
            found[-1] = point + 1
        else:
            found += [point, point + 1]
    return tuple(found)


def _fonts(data: bytes) -> Iterator[TTFont]:
    if not data.startswith(b"ttcf"):
        yield TTFont(io.BytesIO(data), lazy=True)
        return
    for index in range(len(TTCollection(io.BytesIO(data), lazy=True).fonts)):
        yield TTFont(io.BytesIO(data), lazy=True, fontNumber=index)


def _style_of(font: TTFont) -> tuple[int, bool]:
    os2 = font.get("OS/2")
    italic = bool(font["head"].macStyle & 2) or bool(os2 and os2.fsSelection & 1)
    return (int(os2.usWeightClass) if os2 else 400), italic
