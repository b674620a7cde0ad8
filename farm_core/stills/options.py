"""Options of a still: frames, size and file format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from farm_core.errors import InvalidInputs
from motion.timing import round_half_up

StillFormat = Literal["png", "jpeg", "webp"]
FORMATS: Final = ("png", "jpeg", "webp")
WIDTH_MIN: Final = 16
SIDE_MAX: Final = 4096
PIXELS_MAX: Final = 16_000_000
WIDTH_DEFAULT: Final = 640

CONTACT_FRAMES: Final = 25
CONTACT_COLUMNS: Final = 5
CONTACT_WIDTH: Final = 160
"""Default width of each picture on a contact sheet, px."""


@dataclass(frozen=True, slots=True)
class StillOptions:
    """Time, size and format of a still.

    `time` is in seconds and `frame` counts from 0. Set at most one of them; with neither the still is a poster, the
    frame at a third of the duration. `width` is in pixels; the height follows from the aspect ratio. `contact_sheet`
    draws up to 25 frames instead, each `width` pixels wide.
    """

    time: float | None = None
    frame: int | None = None
    width: int | None = None
    format: StillFormat = "png"
    contact_sheet: bool = False


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames for a worker to draw, all of one size, in rows of `columns`."""

    width: int
    height: int
    indices: tuple[int, ...]
    columns: int


def frames_of(options: StillOptions, width: float, height: float, fps: float, frame_count: int) -> Frames:
    """Return the frames of a subject with this size, rate and length. Raises InvalidInputs with all errors."""
    faults = [*_moment_faults(options, fps, frame_count), *_format_faults(options)]
    wanted = options.width or (CONTACT_WIDTH if options.contact_sheet else WIDTH_DEFAULT)
    rows = max(1, round_half_up(wanted * height / width))
    if not WIDTH_MIN <= wanted <= SIDE_MAX:
        faults.append(("width", f"must be an integer from {WIDTH_MIN} to {SIDE_MAX}"))
    elif rows > SIDE_MAX or wanted * rows * (CONTACT_FRAMES if options.contact_sheet else 1) > PIXELS_MAX:
        faults.append(("width", f"makes a picture of {wanted}x{rows} pixels; at most 16 megapixels are allowed"))
    if faults:
        raise InvalidInputs(faults)
    indices = _spread_indices(frame_count) if options.contact_sheet else (_index(options, fps, frame_count),)
    return Frames(wanted, rows, indices, CONTACT_COLUMNS if options.contact_sheet else 1)


def _moment_faults(options: StillOptions, fps: float, frame_count: int) -> list[tuple[str, str]]:
    if options.time is not None and options.frame is not None:
        return [("time", "must be left out where frame is given")]
    if options.frame is not None and not 0 <= options.frame < frame_count:
        return [("frame", f"must be an integer from 0 to {frame_count - 1}")]
    seconds = frame_count / fps
    if options.time is not None and not (math.isfinite(options.time) and 0 <= options.time <= seconds):
        return [("time", f"must be a number from 0 to {seconds:g}")]
    return []


def _format_faults(options: StillOptions) -> list[tuple[str, str]]:
    return [] if options.format in FORMATS else [("format", f"must be one of {', '.join(FORMATS)}")]


def _index(options: StillOptions, fps: float, frame_count: int) -> int:
    if options.frame is not None:
        return options.frame
    if options.time is None:
        return frame_count // 3
    return min(int(options.time * fps + 1e-6), frame_count - 1)


def _spread_indices(frame_count: int) -> tuple[int, ...]:
    """Return evenly spaced frames, each from the middle of its part."""
    count = min(CONTACT_FRAMES, frame_count)
    return tuple((2 * number + 1) * frame_count // (2 * count) for number in range(count))
