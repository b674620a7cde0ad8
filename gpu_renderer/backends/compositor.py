"""What the two backends have in common: `backends/gl` and `backends/cpu`, one of them chosen once per session."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Region

BackendName = Literal["gl", "cpu"]


class Frame(Protocol):
    """A finished frame: 8 bits, display-encoded, opaque. It holds until the next call of its compositor."""

    @property
    def region(self) -> Region:
        """The frame's pixels."""

    def read(self) -> npt.NDArray[np.uint8]:
        """The pixels: uint8 of shape (rows, columns, 4), row 0 on top."""


class Compositor(Protocol):
    """Turns the display lists of one sequence of frames into pixels."""

    name: BackendName

    def prefix_count(self, shown: DisplayList) -> int:
        """How many operations at the bottom of a list are cached as pixels."""

    def composite(self, shown: DisplayList, damage: Damage, stable_count: int) -> Frame:
        """Bring the frame up to date within the damage.

        `stable_count`: how many operations at the bottom have been the same for some frames. Over a video base the frame
        may be undefined beyond the surroundings of the layers above.
        """

    @property
    def target_count(self) -> int:
        """How many targets of the pool it holds between frames, without those of the layer cache."""

    def release(self) -> None:
        """Give back every target."""
