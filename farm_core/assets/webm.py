"""WebM files. Reads EBML (RFC 8794) down to the tracks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from farm_core.assets.faults import NotRenderable, check_size

_HEAD_BYTES: Final = 4 * 1024 * 1024
_ELEMENTS_MAX: Final = 10_000
_EBML, _DOC_TYPE, _SEGMENT, _TRACKS, _ENTRY, _VIDEO = 0x1A45DFA3, 0x4282, 0x18538067, 0x1654AE6B, 0xAE, 0xE0
_TRACK_TYPE, _WIDTH, _HEIGHT = 0x83, 0xB0, 0xBA


def read(path: Path) -> str:
    """Return `video/webm`. Raises NotRenderable, also for Matroska files that are not WebM."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    top = list(_elements(head, 0, len(head)))
    if not top or top[0][0] != _EBML:
        raise NotRenderable("the container is damaged")
    kinds = [head[start:end] for name, start, end in _elements(head, *top[0][1:]) if name == _DOC_TYPE]
    if kinds != [b"webm"]:
        raise NotRenderable("the container is Matroska, but not WebM")
    segment = next((span for name, *span in top if name == _SEGMENT), None)
    tracks = None if segment is None else _first(head, segment, _TRACKS)
    if tracks is None:
        raise NotRenderable("the container has no tracks")
    _check_tracks(head, tracks)
    return "video/webm"


def _check_tracks(head: bytes, tracks: list[int]) -> None:
    usable = 0
    for name, start, end in _elements(head, *tracks):
        if name != _ENTRY:
            continue
        values = {field: head[begin:stop] for field, begin, stop in _elements(head, start, end)}
        usable += int.from_bytes(values.get(_TRACK_TYPE, b"\0"), "big") in (1, 2)
        video = _first(head, [start, end], _VIDEO)
        if video is not None:
            sides = {field: int.from_bytes(head[begin:stop], "big") for field, begin, stop in _elements(head, *video)}
            check_size(sides.get(_WIDTH, 0), sides.get(_HEIGHT, 0))
    if not usable:
        raise NotRenderable("the container has neither video nor sound")


def _first(head: bytes, span: list[int], wanted: int) -> list[int] | None:
    return next((found for name, *found in _elements(head, *span) if name == wanted), None)


def _elements(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield (id, first byte, end) of the elements in a span. An element with unknown size, or cut off, ends with the
    span."""
    for _ in range(_ELEMENTS_MAX):
        if start >= end:
            return
        name, start = _number(data, start, keep_marker=True)
        size, start = _number(data, start, keep_marker=False)
        stop = end if size < 0 else min(start + size, end)
        yield name, start, stop
        start = stop


def _number(data: bytes, start: int, *, keep_marker: bool) -> tuple[int, int]:
    """Return a variable-length number and its end. -1 means "unknown"."""
    if start >= len(data) or data[start] == 0:
        raise NotRenderable("the container is damaged")
    length = 9 - data[start].bit_length()
    value = int.from_bytes(data[start : start + length], "big")
    if not keep_marker:
        value &= (1 << (7 * length)) - 1
        value = -1 if value == (1 << (7 * length)) - 1 else value
    return value, start + length
