"""Characters of a `text` element with collapsed white space, each with its style and position."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import skia

from gpu_renderer.content.svg.budget import Cost
from gpu_renderer.content.svg.document import Element, name_of
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.shapes import path_of
from gpu_renderer.content.svg.strokes import outline_length, path_length_scale
from gpu_renderer.content.svg.values import font_size, length, numbers, placement

_SPAN_DEPTH_MAX = 32
_SPACE = re.compile(r"[ \t\n\r]")
SMALL_CAPITAL = 0.7
"""Size of a small capital as a share of the font size, as in Chromium."""
_SMALL_CAPITALS = {
    **dict.fromkeys(("small-caps", "petite-caps"), "lower"),
    **dict.fromkeys(("all-small-caps", "all-petite-caps"), "both"),
    "unicase": "upper",
}
"""Characters that are drawn small, by value of `font-variant`."""
_SPACE_ATTRIBUTE = "{http://www.w3.org/XML/1998/namespace}space"

Owners = tuple[tuple[Element, ElementState], ...]
"""Element that contains a text, and the elements around it, outermost first."""


@dataclass(frozen=True, slots=True)
class Track:
    """A path for text, and the position on it where the text starts."""

    path: skia.Path
    start: float


@dataclass(slots=True)
class Piece:
    """Text of one style. `x`, `y`: new start, if any. `dx`, `dy`: shift before the text."""

    text: str
    state: ElementState
    owners: Owners
    track: Track | None
    x: float | None = None
    y: float | None = None
    dx: float = 0.0
    dy: float = 0.0
    rotation: float = 0.0
    spread: float = 0.0
    """Space added after each character to fit a `textLength`."""
    stretch: float = 1.0
    """Horizontal scale of the characters to fit a `textLength`."""
    share: float = 1.0
    """Size of its glyphs as a share of the font size, below 1 for small capitals."""

    @property
    def is_placed(self) -> bool:
        """True if a position, shift or rotation separates it from the text before it."""
        return self.x is not None or self.y is not None or bool(self.dx or self.dy or self.rotation)


def pieces_of(scene: SvgScene, element: Element, state: ElementState) -> list[Piece]:
    """Return the pieces of a `text` element in reading order. `state` carries the element's own style."""
    characters = _collapsed(_characters(scene, element, state, (), None))
    inside: dict[Element, list[Piece]] = {}
    for character in characters:
        for owner, _ in character.owners:
            inside.setdefault(owner, []).append(character)
    for owner, owned in inside.items():
        _position(owner, owned)
    pieces: list[Piece] = []
    for character in characters:
        before = pieces[-1] if pieces else None
        if before is None or character.is_placed or before.rotation or character.owners != before.owners:
            pieces.append(character)
        else:
            before.text += character.text
    for piece in pieces:
        piece.text = _cased(piece.text, piece.state.style.get("text-transform", "none"))
    return [part for piece in pieces for part in _with_small_capitals(piece)]


def _characters(
    scene: SvgScene, element: Element, state: ElementState, outer: Owners, track: Track | None
) -> Iterator[Piece]:
    owners = (*outer, (element, state))
    for text, child in _content(element):
        if child is None:
            scene.budget.spend(Cost.characters, len(text) * len(owners))
            yield from (Piece(character, state, owners, track) for character in text)
        elif len(owners) < _SPAN_DEPTH_MAX:
            inside = state.inside(scene.cascade.computed(child, state.style))
            yield from _span(scene, child, inside, owners, track)


def _span(scene: SvgScene, child: Element, state: ElementState, owners: Owners, track: Track | None) -> Iterator[Piece]:
    name = name_of(child)
    if state.style.get("display") != "none" and name in ("tspan", "a", "textPath"):
        track = _track(scene, child, state) if name == "textPath" else track
        if track is not None or name != "textPath":
            yield from _characters(scene, child, state, owners, track)


def _track(scene: SvgScene, child: Element, state: ElementState) -> Track | None:
    if data := child.get("path"):
        path = path_of(data)
        return Track(path, length(child.get("startOffset") or "0", outline_length(path)))
    target = scene.document.linked(child)
    if target is None or name_of(target) != "path":
        return None
    inside = state.inside(scene.cascade.in_place(target))
    path = scene.geometry(target, inside)
    offset = child.get("startOffset") or "0"
    scale = 1.0 if offset.endswith("%") else path_length_scale(target, path)
    start = length(offset, outline_length(path)) * scale
    path.transform(placement(inside.style, state.viewport, path.computeTightBounds))
    return Track(path, start)


def _content(element: Element) -> Iterator[tuple[str, Element | None]]:
    if element.text:
        yield element.text, None
    for child in element:
        if isinstance(child.tag, str):
            yield "", child
        if child.tail:
            yield child.tail, None


def _collapsed(characters: Iterator[Piece]) -> list[Piece]:
    """Return the characters with white space collapsed: each run becomes one space, none at the ends."""
    kept: list[Piece] = []
    after_space = True
    for character in characters:
        is_space = bool(_SPACE.match(character.text))
        character.text = " " if is_space else character.text
        keeps = _keeps_space(character)
        if keeps or not is_space or not after_space:
            kept.append(character)
        after_space = is_space and not keeps
    while kept and kept[-1].text == " " and not _keeps_space(kept[-1]):
        kept.pop()
    return kept


def _keeps_space(character: Piece) -> bool:
    if stated := character.state.style.get("white-space"):
        return stated.startswith(("pre", "break-spaces")) and stated != "pre-line"
    attribute = next((value for owner, _ in reversed(character.owners) if (value := owner.get(_SPACE_ATTRIBUTE))), None)
    return attribute == "preserve"


def _position(owner: Element, characters: list[Piece]) -> None:
    """Set the positions that an element's attribute lists give its characters."""
    state = next(state for other, state in characters[0].owners if other is owner)
    for name in ("x", "y", "dx", "dy") if name_of(owner) != "textPath" else ():
        reference = state.viewport.width if name.endswith("x") else state.viewport.height
        words = (owner.get(name) or "").replace(",", " ").split()
        for character, word in zip(characters, words, strict=False):
            setattr(character, name, length(word, reference, 0.0, font_size(state.style)))
    if turns := numbers(owner.get("rotate")):
        for index, character in enumerate(characters):
            character.rotation = turns[min(index, len(turns) - 1)]


def _cased(text: str, wanted: str) -> str:
    if wanted == "capitalize":
        return re.sub(r"(?<!\w)\w", lambda match: match[0].upper(), text)
    return {"uppercase": text.upper(), "lowercase": text.lower()}.get(wanted, text)


def _with_small_capitals(piece: Piece) -> Iterator[Piece]:
    """Yield the parts of a piece that are drawn in one size. Browsers make small capitals of fonts that have none."""
    words = piece.state.style.get("font-variant", "normal").lower().split()
    kind = next((_SMALL_CAPITALS[word] for word in words if word in _SMALL_CAPITALS), None)
    if kind is None:
        yield piece
        return
    place = piece
    for is_lower, text in _runs_by_case(piece.text):
        is_small = kind == "both" or is_lower == (kind == "lower")
        made = text.upper() if is_lower and kind != "upper" else text
        yield replace(place, text=made, share=SMALL_CAPITAL if is_small else 1.0)
        place = replace(piece, x=None, y=None, dx=0.0, dy=0.0)


def _runs_by_case(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the runs of letters that have a capital, and of other characters. Marks belong to the letter before them."""
    cases: list[bool] = []
    for char in text:
        is_mark = cases and unicodedata.combining(char)
        cases.append(cases[-1] if is_mark else char.upper() != char)
    for is_lower, run in groupby(zip(cases, text, strict=True), key=lambda pair: pair[0]):
        yield is_lower, "".join(char for _, char in run)
