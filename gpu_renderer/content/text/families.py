"""Find faces by family, weight and style: named families, substitutes, fallbacks for missing characters.

The order is a browser's on Linux: the named family, Inter, the system's sans-serif, then any face that has the
character (text.md 2). Inside a family the face with the nearest weight on fontconfig's scale is used. On a tie it is
the first by file name.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from fontTools import unicodedata as scripts

from gpu_renderer.content.text.emoji import is_emoji
from gpu_renderer.content.text.faces import Face, Styled
from gpu_renderer.content.text.folders import FontFile, identity
from gpu_renderer.errors import RenderError

DEFAULT_FAMILY = "Inter"
SYSTEM_FAMILY = "DejaVu Sans"
"""Default sans-serif family of the system, by fontconfig's rules."""
SUBSTITUTES = {
    "arial": "Liberation Sans",
    "helvetica": "Liberation Sans",
    "arial narrow": "Liberation Sans Narrow",
    "times new roman": "Liberation Serif",
    "times": "Liberation Serif",
    "courier new": "Liberation Mono",
    "courier": "Liberation Mono",
    "sans": "DejaVu Sans",
    "serif": "DejaVu Serif",
    "monospace": "DejaVu Sans Mono",
}
"""Substitutes: families with the same metrics, and the system's generic names. Other missing families become Inter."""
REGULAR, BOLD_LEAST = 400, 600
_CSS_WEIGHTS = (100, 200, 300, 350, 380, 400, 500, 600, 700, 800, 900, 1000)
_FONTCONFIG_WEIGHTS = (0, 40, 50, 55, 75, 80, 100, 180, 200, 205, 210, 215)
"""CSS weights on fontconfig's scale, with linear interpolation between them."""

SAMPLES: Final = {
    "Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hebrew": "ש", "Devanagari": "क", "Bengali": "ক",
    "Tamil": "த", "Telugu": "త", "Thai": "ก", "Georgian": "ა", "Armenian": "Ա", "Ethiopic": "አ", "Khmer": "ក",
    "Chinese": "漢", "Japanese": "あ", "Korean": "한", "emoji": "😀",
}  # fmt: skip
"""One character of each common script."""
_SCRIPT_NAMES: Final = {
    "Han": "Chinese",
    "Hiragana": "Japanese",
    "Katakana": "Japanese",
    "Hangul": "Korean",
    "Common": "symbols",
}
_HELP: Final = "run ./farm fonts, or put a font that has it into a folder of FONT_FOLDERS"


class NoFonts(RenderError):
    """Error: no face is installed."""


@dataclass(frozen=True, slots=True)
class Style:
    """Properties that select a face."""

    family: str
    weight: float
    italic: bool


@dataclass(eq=False)
class FontChain:
    """Faces of a style, in the order in which a character tries them. The first one defines the line's baseline."""

    style: Style
    primary: Styled
    named: tuple[Styled, ...]
    fallback: Fonts
    _chosen: dict[str, Styled] = field(default_factory=dict)

    def face_for(self, cluster: str) -> Styled:
        """Return the face of a character with its marks. If no face has it, the primary one draws a box."""
        if cluster not in self._chosen:
            self._chosen[cluster] = self._find(cluster)
        return self._chosen[cluster]

    def _find(self, cluster: str) -> Styled:
        """Return the first face that has the whole cluster, or else the first that has its base character, as browsers do."""
        if "\0" < cluster < " ":  # a control character: browsers try no other family
            return self.primary
        if is_emoji(cluster) and (emoji := self.fallback.emoji(ord(cluster[0]))):
            return emoji
        for wanted in dict.fromkeys((cluster, cluster[0])):
            for styled in self.named:
                if styled.face.draws(wanted):
                    return styled
            if found := self.fallback.any_with(wanted, self.style):
                return found
        return self.primary


class Fonts:
    """All faces of the folders, opened on first use, and a record of substituted families."""

    def __init__(self, files: Sequence[FontFile]) -> None:
        if not files:
            raise NoFonts("no font is installed: run ./farm fonts")
        self.identity = identity(files)
        self._families: dict[str, list[FontFile]] = defaultdict(list)
        for file in files:
            self._families[file.family.lower()].append(file)
        self._blocks: dict[int, list[tuple[str, list[FontFile]]]] = {}
        self._faces: dict[tuple[str, int], Face] = {}
        self._chains: dict[Style, FontChain] = {}
        self._substituted: dict[str, str] = {}
        self._missing: dict[str, str] = {}

    def for_job(self) -> Fonts:
        """Return the same opened faces with a separate record of substitutions and missing characters."""
        fonts = copy(self)
        fonts._chains, fonts._substituted, fonts._missing = {}, {}, {}
        return fonts

    @property
    def warnings(self) -> tuple[str, ...]:
        """One warning for each substituted family, and for each script with characters that no font has."""
        substituted = (
            f"The font family {wanted!r} is not installed; {used!r} stands in for it."
            for wanted, used in self._substituted.items()
        )
        missing = (
            f"No installed font has {script} characters such as {example!r}; boxes are drawn for them: {_HELP}."
            for script, example in self._missing.items()
        )
        return (*substituted, *missing)

    def chain(self, style: Style) -> FontChain:
        """Return the faces of a style, cached."""
        installed = self._installed(style.family)
        if style not in self._chains:
            families = [self._families.get(name.lower(), []) for name in (installed, DEFAULT_FAMILY, SYSTEM_FAMILY)]
            named = tuple(self._styled(file, style) for files in families for file in _nearest(files, style))
            any_file = _nearest(next(iter(self._families.values())), style)[0]
            self._chains[style] = FontChain(style, named[0] if named else self._styled(any_file, style), named, self)
        return self._chains[style]

    def has(self, family: str) -> bool:
        """Return True if the family, or one with the same metrics, is installed."""
        name = family.strip().lower()
        return name in self._families or name in SUBSTITUTES

    def emoji(self, code_point: int) -> Styled | None:
        """Return the colour face of an emoji."""
        for family, files in self._families.items():
            for file in files:
                if "emoji" in family and file.covers(code_point):
                    return Styled(self._face(file))
        return None

    def any_with(self, cluster: str, style: Style) -> Styled | None:
        """Return the regular face of the first family that has a character and its marks.

        It is emboldened or slanted if the style asks for that: browsers ask the system for a character, not for a
        style. Families of pictures come last. The script of a visible character that no font has is recorded.
        """
        wanted = [char for char in cluster if not _is_invisible(char)] or [cluster[0]]
        for family, files in self._with_block_of(wanted[0]):
            covering = [file for file in files if all(file.covers(ord(char)) for char in wanted)]
            if covering:
                file = _nearest(covering, Style(family, REGULAR, italic=False))[0]
                face = self._face(file)
                light = file.weight < BOLD_LEAST <= style.weight and not face.is_color
                return Styled(face, style.italic and not file.italic and not face.is_color, light)
        missing = next((char for char in wanted if not self._has_character(char)), wanted[-1])
        if unicodedata.category(missing)[0] not in "ZC":
            name = str(scripts.script_name(scripts.script(missing), default="unknown")).replace("_", " ")
            self._missing.setdefault(_SCRIPT_NAMES.get(name, name), missing)
        return None

    def _with_block_of(self, char: str) -> list[tuple[str, list[FontFile]]]:
        """Return the families, in order, with their files that have any of the 256 characters around this one.

        The result is cached: asking hundreds of files for each character of a Chinese text takes seconds.
        """
        block = ord(char) & ~0xFF
        if block not in self._blocks:
            families = sorted(self._families.items(), key=_rank)
            own = (
                (family, [file for file in files if file.covers_any(block, block + 256)]) for family, files in families
            )
            self._blocks[block] = [(family, files) for family, files in own if files]
        return self._blocks[block]

    def _has_character(self, char: str) -> bool:
        return any(file.covers(ord(char)) for _, files in self._with_block_of(char) for file in files)

    def _installed(self, family: str) -> str:
        name = family.strip().lower()
        if name in self._families:
            return name
        return self._substituted.setdefault(family, SUBSTITUTES.get(name, DEFAULT_FAMILY))

    def _styled(self, file: FontFile, style: Style) -> Styled:
        return Styled(self._face(file), slanted=style.italic and not file.italic)

    def _face(self, file: FontFile) -> Face:
        key = (str(file.path), file.index)
        if key not in self._faces:
            self._faces[key] = Face(file)
        return self._faces[key]


def without_font(files: Iterable[FontFile]) -> list[str]:
    """Return the names of the common scripts that no font file has."""
    candidates = list(files)
    return [name for name, sample in SAMPLES.items() if not any(file.covers(ord(sample)) for file in candidates)]


def _is_invisible(char: str) -> bool:
    """Return True for joiners, direction marks and variation selectors, which the shaper hides."""
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


def _rank(family: tuple[str, list[FontFile]]) -> int:
    """Return a family's rank for a missing character: plain letters first, special letter shapes next, pictures last."""
    name, _ = family
    return 2 if "emoji" in name else 1 if "looped" in name else 0


def _nearest(files: Sequence[FontFile], style: Style) -> list[FontFile]:
    """Return all files with the best weight and style. A family can be split into files with different characters."""
    right = [file for file in files if file.italic == style.italic] or files
    wanted = _scaled(style.weight)
    best = min((file.weight for file in right), key=lambda weight: abs(_scaled(weight) - wanted), default=None)
    return [file for file in right if file.weight == best]


def _scaled(weight: float) -> float:
    return float(np.interp(weight, _CSS_WEIGHTS, _FONTCONFIG_WEIGHTS))
