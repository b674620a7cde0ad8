"""Errors of the shader compiler, shown in the shader's own files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import shaders

CONTEXT_LINES: Final = 5
"""Lines shown before and after the line of an error."""
Stages = Mapping[str, Sequence[shaders.Line]]
"""Lines of each stage's text, by the stage as moderngl names it: `vertex_shader`, `fragment_shader`."""
_PLACE = re.compile(r"^(?:ERROR: |WARNING: )?0(?::(\d+)|\((\d+)\))(?:\(\d+\))?[\s:]*")
"""Place at the start of a compiler's line: `0:12(5): ` (Mesa), `0(12) : ` (NVIDIA), `ERROR: 0:12: ` (AMD, Intel, ANGLE)."""


def explained(message: str, stages: Stages) -> str:
    """Replace the line numbers of a compiler's message by file and line, and show the lines around each place once.

    Lines of the message that name no place stay as they are.
    """
    report: list[str] = []
    shown: set[tuple[str, int]] = set()
    stage: Sequence[shaders.Line] = ()
    for line in message.splitlines():
        stage = stages.get(line.strip(), stage)
        place = _PLACE.match(line)
        report += [line] if place is None else _placed(line[place.end() :], int(place[1] or place[2]), stage, shown)
    return "\n".join(report)


def _placed(error: str, number: int, stage: Sequence[shaders.Line], shown: set[tuple[str, int]]) -> Iterable[str]:
    """One error with its file, its line and, the first time that the line is named, the lines around it."""
    line = stage[number - 1] if 0 < number <= len(stage) else None
    if line is None or not line.file:
        yield f"generated line {number}: {error}"
        return
    yield f"shaders/{line.file}:{line.number}: {error}"
    if (line.file, line.number) not in shown:
        shown.add((line.file, line.number))
        yield from _around(line)


def _around(line: shaders.Line) -> Iterable[str]:
    text = shaders.text(line.file).splitlines()
    first = max(line.number - CONTEXT_LINES, 1)
    for number, each in enumerate(text[first - 1 : line.number + CONTEXT_LINES], start=first):
        yield f"{'>' if number == line.number else ' '} {number:4d} | {each}"
