"""Protocol of the backends `backends/gl` and `backends/cpu`. A session uses one of them."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.encode.planes import VideoPassthrough
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Region

BackendName = Literal["gl", "cpu"]


class Frame(Protocol):
    """A finished frame: 8 bits, display-encoded, opaque. It is valid until the next call of its compositor."""

    @property
    def region(self) -> Region:
        """Pixels of the frame."""

    def read(self) -> npt.NDArray[np.uint8]:
        """Return the pixels: uint8 of shape (rows, columns, 4), row 0 on top."""


class RenderedFrame(NamedTuple):
    """A finished frame with its damage since the last one.

    Over a `passthrough` video, pixels outside the drawn rectangles can be undefined.
    """

    frame: Frame
    changed: Damage
    passthrough: VideoPassthrough | None = None
    is_repeat: bool = False
    """True if the snapshot equals the one drawn before."""


class Compositor(Protocol):
    """Turn the display lists of one sequence of frames into pixels."""

    def prefix_count(self, display_list: DisplayList) -> int:
        """Return the number of operations at the bottom of a list that are cached as pixels."""

    def composite(self, display_list: DisplayList, damage: Damage, stable_count: int) -> Frame:
        """Redraw the damage of the frame.

        `stable_count` is the number of operations at the bottom that have not changed for some frames. Over a video base,
        the frame can be undefined away from the layers above the video.
        """

    def release(self) -> None:
        """Release all targets."""
