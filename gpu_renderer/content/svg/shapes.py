"""Basic shapes and paths as Skia paths in the element's own user space."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import skia

from gpu_renderer.content.svg.document import Element, name_of
from gpu_renderer.content.svg.scene import ElementState
from gpu_renderer.content.svg.values import NUMBER, font_size, length, numbers

SHAPES = ("rect", "circle", "ellipse", "line", "polyline", "polygon", "path")
_CSS_PATH = re.compile(r"path\(\s*['\"]([^'\"]*)['\"]\s*\)")
_COMMAND = re.compile(r"[\s,]*([MmLlHhVvCcSsQqTtAaZz])")
_NUMBER, _FLAG = rf"[\s,]*+(?>({NUMBER.pattern}))", r"[\s,]*+([01])"
_ARGUMENTS = {
    **{letter: re.compile(_NUMBER * count) for count, letters in ((1, "HV"), (2, "MLT"), (4, "SQ"), (6, "C")) for letter in letters},
    "A": re.compile(_NUMBER * 3 + _FLAG * 2 + _NUMBER * 2),
}  # fmt: skip
"""Argument pattern of each command."""


def shape_path(element: Element, state: ElementState) -> skia.Path:
    """Return the outline, empty if the geometry is not drawn. `state` carries the element's own style."""
    return _MAKERS[name_of(element)](_Geometry(element, state))


def path_of(text: str) -> skia.Path:
    """Return the Skia path of path data. As in a browser, an error ends the path but keeps the part before it."""
    return _PathReader(text).path


def arc_joints(text: str) -> frozenset[int]:
    """Return the verbs whose ends are joints inside an arc, and not vertices."""
    return frozenset(_PathReader(text).joints)


def path_data(element: Element, state: ElementState) -> str:
    """Return the path data of a `path`, from its attribute or from CSS. Other elements give an empty text."""
    if name_of(element) != "path":
        return ""
    stated = _CSS_PATH.match(state.style.get("d", ""))
    return stated[1] if stated else element.get("d") or ""


class _Geometry(NamedTuple):
    """Lengths of an element, from CSS or from attributes."""

    element: Element
    state: ElementState

    def x(self, name: str, default: float = 0.0) -> float:
        return self._length(name, self.state.viewport.width, default)

    def y(self, name: str, default: float = 0.0) -> float:
        return self._length(name, self.state.viewport.height, default)

    def diagonal(self, name: str) -> float:
        return self._length(name, self.state.viewport.diagonal, 0.0)

    def _length(self, name: str, reference: float, default: float) -> float:
        by_attribute = self.element.get(name)
        if (text := self.state.style.get(name)) is None and by_attribute:
            text, default = by_attribute, 0.0  # an attribute that is not a length counts as 0, like `rx="auto"`
        return length(text, reference, default, font_size(self.state.style))


def _rect(geometry: _Geometry) -> skia.Path:
    path, width, height = skia.Path(), geometry.x("width"), geometry.y("height")
    if width <= 0 or height <= 0:
        return path
    rx, ry = geometry.x("rx", -1.0), geometry.y("ry", -1.0)
    rx, ry = rx if rx >= 0 else max(ry, 0.0), ry if ry >= 0 else max(rx, 0.0)
    box = skia.Rect.MakeXYWH(geometry.x("x"), geometry.y("y"), width, height)
    if rx > 0 and ry > 0:
        rounded = skia.RRect.MakeRectXY(box, min(rx, width / 2), min(ry, height / 2))
        return path.addRRect(rounded, skia.PathDirection.kCW, 0)
    return path.addRect(box)


def _ellipse(geometry: _Geometry) -> skia.Path:
    rx, ry = geometry.x("rx", -1.0), geometry.y("ry", -1.0)
    return _oval(geometry, rx if rx >= 0 else ry, ry if ry >= 0 else rx)


def _oval(geometry: _Geometry, rx: float, ry: float) -> skia.Path:
    x, y, path = geometry.x("cx"), geometry.y("cy"), skia.Path()
    if rx <= 0 or ry <= 0:
        return path
    return path.addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry), skia.PathDirection.kCW, 1)


def _line(geometry: _Geometry) -> skia.Path:
    path = skia.Path()
    path.moveTo(geometry.x("x1"), geometry.y("y1"))
    path.lineTo(geometry.x("x2"), geometry.y("y2"))
    return path


def _corners(geometry: _Geometry, *, closed: bool) -> skia.Path:
    found = numbers(geometry.element.get("points"))
    corners = [skia.Point(x, y) for x, y in zip(found[::2], found[1::2], strict=False)]
    return skia.Path().addPoly(corners, closed) if len(corners) > 1 else skia.Path()


_MAKERS: dict[str, Callable[[_Geometry], skia.Path]] = {
    "rect": _rect,
    "circle": lambda geometry: _oval(geometry, geometry.diagonal("r"), geometry.diagonal("r")),
    "ellipse": _ellipse,
    "line": _line,
    "polyline": lambda geometry: _corners(geometry, closed=False),
    "polygon": lambda geometry: _corners(geometry, closed=True),
    "path": lambda geometry: path_of(path_data(*geometry)),
}


def _commands(text: str) -> Iterator[tuple[str, list[float]]]:
    """Yield each command with its numbers, up to the first error. A repeated command is yielded for each repetition."""
    at = 0
    while match := _COMMAND.match(text, at):
        letter, at = match[1], match.end()
        if letter in "Zz":
            yield "Z", []
            continue
        repetition = arguments = _ARGUMENTS[letter.upper()].match(text, at)
        while repetition:
            yield letter, [float(word) for word in repetition.groups()]
            letter, at = {"M": "L", "m": "l"}.get(letter, letter), repetition.end()
            repetition = _ARGUMENTS[letter.upper()].match(text, at)
        if not arguments:
            return


class _PathReader:
    """Parser of path data: the path, and its joints inside arcs."""

    def __init__(self, text: str) -> None:
        self.path = skia.Path()
        self.joints: set[int] = set()
        self._x = self._y = self._start_x = self._start_y = 0.0
        self._control: tuple[str, float, float] | None = None
        for letter, n in _commands(text):
            if self.path.isEmpty() and letter not in "Mm":
                break
            self._draw(letter.upper(), self._absolute(letter, n))

    def _absolute(self, letter: str, n: list[float]) -> list[float]:
        """Return the numbers relative to the origin of the user space. H and V are completed to a point."""
        x, y = (self._x, self._y) if letter.islower() else (0.0, 0.0)
        if letter in "Hh":
            return [n[0] + x, self._y]
        if letter in "Vv":
            return [self._x, n[0] + y]
        if letter == "a":
            return [*n[:5], n[5] + x, n[6] + y]
        return [value + (y if index % 2 else x) for index, value in enumerate(n)] if letter.islower() else n

    def _draw(self, letter: str, n: list[float]) -> None:
        control, self._control = self._control, None
        if letter == "Z":
            self.path.close()
            n = [self._start_x, self._start_y]
        elif letter == "M":
            self.path.moveTo(*n)
            self._start_x, self._start_y = n
        elif letter in "LHV":
            self.path.lineTo(*n)
        elif letter in "CS":
            n = [*self._reflected("C", control), *n] if letter == "S" else n
            self.path.cubicTo(*n)
            self._control = ("C", n[2], n[3])
        elif letter in "QT":
            n = [*self._reflected("Q", control), *n] if letter == "T" else n
            self.path.quadTo(*n)
            self._control = ("Q", n[0], n[1])
        else:
            self._arc(n)
        self._x, self._y = n[-2:]

    def _reflected(self, kind: str, control: tuple[str, float, float] | None) -> tuple[float, float]:
        if control is None or control[0] != kind:
            return self._x, self._y
        return 2 * self._x - control[1], 2 * self._y - control[2]

    def _arc(self, n: list[float]) -> None:
        size = skia.Path.ArcSize.kLarge_ArcSize if n[3] else skia.Path.ArcSize.kSmall_ArcSize
        sweep = skia.PathDirection.kCW if n[4] else skia.PathDirection.kCCW
        before = self.path.countVerbs()
        self.path.arcTo(abs(n[0]), abs(n[1]), n[2], size, sweep, n[5], n[6])
        self.joints.update(range(before, self.path.countVerbs() - 1))
