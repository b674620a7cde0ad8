"""From a family, weight and style to faces: what a document names, what stands in for it, what a missing character uses.

The order is a browser's on Linux: the named family, Inter, the system's sans-serif, then any face that has the character
(text.md 2). Inside a family the face nearest in fontconfig's scale of weights wins, the first by file name on a tie.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise

from gpu_renderer.content.text.face import Face, Styled
from gpu_renderer.content.text.folders import FontFile, identity
from gpu_renderer.content.text.scripts import is_visible, missing_line, script_of
from gpu_renderer.errors import RenderError

DEFAULT_FAMILY = "Inter"
SYSTEM_FAMILIES = ("Liberation Sans", "DejaVu Sans")
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
"""Families of the same metrics, and the system's own names; any other family that is not installed becomes Inter."""
BOLD_LEAST = 600
_WEIGHT_SCALE = ((100, 0), (200, 40), (300, 50), (350, 55), (380, 75), (400, 80), (500, 100), (600, 180), (700, 200), (800, 205), (900, 210), (1000, 215))  # fmt: skip
"""CSS weights and fontconfig's, which is linear between them."""


class NoFonts(RenderError):
    """No face is installed."""


@dataclass(frozen=True, slots=True)
class Style:
    """Properties that select a face."""

    family: str
    weight: float
    italic: bool


@dataclass(eq=False)
class Chain:
    """Faces of a style in the order in which a character tries them; the first one gives the line its baseline."""

    style: Style
    primary: Styled
    named: tuple[tuple[FontFile, Styled], ...]
    fallback: Fonts
    _chosen: dict[str, Styled] = field(default_factory=dict)

    def face_for(self, cluster: str) -> Styled:
        """Return the face of a character with its marks; the primary one, which draws a box, where no face has it."""
        if cluster not in self._chosen:
            self._chosen[cluster] = self._find(cluster)
        return self._chosen[cluster]

    def _find(self, cluster: str) -> Styled:
        base = ord(cluster[0])
        if is_emoji(cluster) and (emoji := self.fallback.emoji(base)):
            return emoji
        for file, styled in self.named:
            if file.covers(base):
                return styled
        return self.fallback.any_with(base, self.style) or self.fallback.without_face(base, self.primary)


class Fonts:
    """All faces of the folders, opened when first used; remembers which families it had to substitute."""

    def __init__(self, files: Sequence[FontFile]) -> None:
        if not files:
            raise NoFonts("no font is installed: run ./farm fonts")
        self.identity = identity(files)
        self._families: dict[str, list[FontFile]] = defaultdict(list)
        for file in files:
            self._families[file.family.lower()].append(file)
        self._faces: dict[tuple[str, int], Face] = {}
        self._chains: dict[Style, Chain] = {}
        self._substituted: dict[str, str] = {}
        self._missing: dict[str, str] = {}

    def for_job(self) -> Fonts:
        """Return the same opened faces with a record of substitutions and missing characters of its own."""
        fonts = copy(self)
        fonts._chains, fonts._substituted, fonts._missing = {}, {}, {}
        return fonts

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each family that another one replaced, and for each script with characters that no font has."""
        substituted = (
            f"The font family {wanted!r} is not installed; {used!r} stands in for it."
            for wanted, used in self._substituted.items()
        )
        return (*substituted, *(missing_line(script, example) for script, example in self._missing.items()))

    def chain(self, style: Style) -> Chain:
        """Return the faces of a style; kept."""
        installed = self._installed(style.family)
        if style not in self._chains:
            families = [installed, DEFAULT_FAMILY, *SYSTEM_FAMILIES]
            named = tuple(
                (file, self._styled(file, style)) for family in families for file in self._matched(family, style)
            )
            primary = named[0][1] if named else self._styled(self._any_file(style), style)
            self._chains[style] = Chain(style, primary, named, self)
        return self._chains[style]

    def has(self, family: str) -> bool:
        """Return True if the family, or one of the same metrics, is installed."""
        name = family.strip().lower()
        return name in self._families or name in SUBSTITUTES

    def emoji(self, code_point: int) -> Styled | None:
        """Return the colour face of an emoji."""
        for files in self._families.values():
            for file in files:
                if "emoji" in file.family.lower() and file.covers(code_point):
                    return Styled(self._face(file))
        return None

    def without_face(self, code_point: int, stand_in: Styled) -> Styled:
        """Return the face that draws a box for a character that no font has, which is noted by its script."""
        if is_visible(code_point):
            self._missing.setdefault(script_of(code_point), chr(code_point))
        return stand_in

    def any_with(self, code_point: int, style: Style) -> Styled | None:
        """Return the face nearest to the style in the first family that has the character; emboldened where it is too light."""
        for family, files in self._families.items():
            covering = [file for file in files if file.covers(code_point)]
            if covering:
                file = next(iter(_nearest(covering, style)))
                light = file.weight < BOLD_LEAST <= style.weight
                return Styled(self._face(file), style.italic and not file.italic, light and "emoji" not in family)
        return None

    def _installed(self, family: str) -> str:
        name = family.strip().lower()
        if name in self._families:
            return name
        substitute = SUBSTITUTES.get(name, DEFAULT_FAMILY)
        self._substituted.setdefault(family, substitute)
        return substitute

    def _matched(self, family: str, style: Style) -> Iterator[FontFile]:
        return _nearest(self._families.get(family.lower(), []), style)

    def _any_file(self, style: Style) -> FontFile:
        return next(_nearest(next(iter(self._families.values())), style))

    def _styled(self, file: FontFile, style: Style) -> Styled:
        return Styled(self._face(file), slanted=style.italic and not file.italic)

    def _face(self, file: FontFile) -> Face:
        key = (str(file.path), file.index)
        if key not in self._faces:
            self._faces[key] = Face(file)
        return self._faces[key]


def is_emoji(cluster: str) -> bool:
    """Return True if the cluster asks for colour: by a variation selector, or because it is drawn so by default."""
    if "\ufe0e" in cluster:
        return False
    return "\ufe0f" in cluster or (
        ord(cluster[0]) >= 0x1F000 and unicodedata.category(cluster[0]) in ("So", "Sk", "Cn")
    )


def _nearest(files: Iterable[FontFile], style: Style) -> Iterator[FontFile]:
    """All files of the best weight and style: a family may come in several files, each with some of the characters."""
    candidates = list(files)
    if not candidates:
        return iter(())
    right = [file for file in candidates if file.italic == style.italic] or candidates
    best = min(right, key=lambda file: abs(_scaled(file.weight) - _scaled(style.weight)))
    return (file for file in right if file.weight == best.weight)


def _scaled(weight: float) -> float:
    weight = min(1000.0, max(100.0, weight))
    for (low, low_scaled), (high, high_scaled) in pairwise(_WEIGHT_SCALE):
        if weight <= high:
            return low_scaled + (high_scaled - low_scaled) * (weight - low) / (high - low)
    return float(_WEIGHT_SCALE[-1][1])
