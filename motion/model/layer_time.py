"""A layer's own time as a function of its composition's time (document.md 2.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Bar(NamedTuple):
    """Range of a layer on its timeline, in frames: [start, start + duration). The first frame shows `source_in`."""

    start: float
    duration: float
    source_in: float


@dataclass(frozen=True, slots=True)
class LayerTime:
    """Stretch in percent (200 = half speed), reversal, freezing at a time in seconds, and posterizing to a rate.

    `anchor` and `end` span the layer's scalar keyframes in seconds, [0, 1] without keyframes: stretch and reverse turn about them.
    """

    stretch: float = 100.0
    reverse: bool = False
    freeze_time: float | None = None
    frame_blend: Literal["none", "mix", "pixelMotion"] = "none"
    posterize_fps: float | None = None
    anchor: float = 0.0
    end: float = 1.0

    @property
    def is_plain(self) -> bool:
        """True if it changes no time."""
        return self.stretch == 100.0 and not self.reverse and self.freeze_time is None and self.posterize_fps is None

    def posterized(self, time: float) -> float:
        """Return the time stepped to the rate of an enabled posterize-time effect."""
        fps = self.posterize_fps
        return time if fps is None else (time * fps // 1) / fps

    def stretched(self, time: float) -> float:
        """Return the time after freezing, stretching and reversing (document.md 2.10.4).

        A time that neither changes stays exact: at a held key the last bit decides between two values.
        """
        if self.freeze_time is not None:
            return self.freeze_time
        if self.stretch == 100.0 and not self.reverse:
            return time
        stretched = self.anchor + (time - self.anchor) * 100.0 / self.stretch
        return self.anchor + self.end - stretched if self.reverse else stretched
