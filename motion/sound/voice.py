"""A voice: one contiguous stretch of one file, at one speed (audio.md 2.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from motion.sound.curves import Curve, constant

RATE = 48_000
"""Sample frames a second of everything in this package."""

Samples = npt.NDArray[np.float64]
"""(sample frames, channels)."""

Wave = Literal["sine", "triangle", "sawtooth", "square"]

Pause = Callable[[], None]
"""Callback between two short steps of long work. It can let other work run, and raises an error if the work must stop."""


def no_pause() -> None:
    """Do nothing between two steps."""


class Sound(Protocol):
    """A decoded file: one or two channels at RATE."""

    @property
    def channels(self) -> int:
        """1 or 2."""

    @property
    def length(self) -> int:
        """Sample frames."""

    def read(self, first: int, count: int) -> Samples:
        """Sample frames [first, first + count), which lie within the file."""


@dataclass(frozen=True, slots=True)
class AudioEffect:
    """An effect of a layer's chain; `parameters` by name, each with its default filled in. A filter passes the high frequencies, unless its
    `mode` is "lowpass"."""

    id: str
    type: str
    parameters: dict[str, Curve]
    mode: str = ""
    wave: Wave = "sine"


@dataclass(frozen=True, slots=True)
class Voice:
    """Sound from `start` for `length` seconds of the output, from `position` seconds of the source at `rate`.

    A negative rate plays backwards. `is_open`: at the latest to the end of the file. `mirror`: the first and the last
    source second of the whole bar, if the effect `backwards` plays it from the end. `gain` and the effects' curves
    count from the start.
    """

    layer: str
    source: str
    start: float
    length: float
    position: float
    rate: float = 1.0
    gain: Curve = field(default_factory=lambda: constant(1.0))
    effects: tuple[AudioEffect, ...] = ()
    is_open: bool = False
    mirror: tuple[float, float] | None = None
