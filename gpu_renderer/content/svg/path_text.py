"""`d` attribute of a path."""

from __future__ import annotations

import re
from typing import Any

import skia

_FLAG = re.compile(r"[\s,]*([01])")
_NUMBER = re.compile(r"[\s,]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_COMMAND = re.compile(r"[\s,]*([MmLlHhVvCcSsQqTtAaZz])")
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_ARC_FLAGS = (3, 4)


def path_of(text: str) -> Any:
    """Return the Skia path; as with a browser, what precedes an error is drawn."""
    return _PathReader(text).read()


def arc_joints(text: str) -> frozenset[int]:
    """Return the verbs of the same path whose ends are no vertices, but joints inside an arc."""
    reader = _PathReader(text)
    reader.read()
    return frozenset(reader.joints)


class _PathReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._path = skia.Path()
        self.joints: set[int] = set()
        self._x = self._y = self._start_x = self._start_y = 0.0
        self._control: tuple[str, float, float] | None = None

    def read(self) -> Any:
        while match := _COMMAND.match(self._text, self._at):
            self._at = match.end()
            if self._path.isEmpty() and match[1] not in "Mm":
                break
            if not self._run(match[1]):
                break
        return self._path

    def _run(self, command: str) -> bool:
        """Draw a command with all its repetitions; false at an error."""
        if command in "Zz":
            self._path.close()
            self._x, self._y, self._control = self._start_x, self._start_y, None
            return True
        count, repeated = _COUNTS[command.upper()], 0
        while (numbers := self._numbers(command, count)) is not None:
            letter = command if repeated == 0 or command not in "Mm" else ("L" if command == "M" else "l")
            self._draw(letter.upper(), self._absolute(letter, numbers))
            repeated += 1
        return repeated > 0

    def _numbers(self, command: str, count: int) -> list[float] | None:
        found, at = [], self._at
        for index in range(count):
            pattern = _FLAG if command in "Aa" and index in _ARC_FLAGS else _NUMBER
            match = pattern.match(self._text, at)
            if match is None:
                return None
            found.append(float(match[1]))
            at = match.end()
        self._at = at
        return found

    def _absolute(self, letter: str, numbers: list[float]) -> list[float]:
        if letter.isupper():
            return numbers
        if letter == "h":
            return [numbers[0] + self._x]
        if letter == "v":
            return [numbers[0] + self._y]
        if letter == "a":
            return [*numbers[:5], numbers[5] + self._x, numbers[6] + self._y]
        return [value + (self._x if index % 2 == 0 else self._y) for index, value in enumerate(numbers)]

    def _draw(self, letter: str, n: list[float]) -> None:
        before = self._control
        self._control = None
        if letter == "M":
            self._path.moveTo(*n)
            self._start_x, self._start_y = n
        elif letter in "LHV":
            n = {"L": n, "H": [n[0], self._y], "V": [self._x, n[0]]}[letter]
            self._path.lineTo(*n)
        elif letter in "CS":
            n = [*self._reflected("C", before), *n] if letter == "S" else n
            self._path.cubicTo(*n)
            self._control = ("C", n[2], n[3])
        elif letter in "QT":
            n = [*self._reflected("Q", before), *n] if letter == "T" else n
            self._path.quadTo(*n)
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
        before = self._path.countVerbs()
        self._path.arcTo(abs(n[0]), abs(n[1]), n[2], size, sweep, n[5], n[6])
        self.joints.update(range(before, self._path.countVerbs() - 1))
