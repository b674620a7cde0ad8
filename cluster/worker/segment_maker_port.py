"""Port of the worker to the renderer: draw segments and stills. `segment_maker.py` implements it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cluster.worker.media_cache import MediaCache
from gpu_renderer.progress import Callbacks, ShouldStop
from scheduler.ports import SegmentAssignment, StillAssignment


@dataclass(frozen=True, slots=True)
class StillPicture:
    """A frame as opaque sRGB RGBA of shape (height, width, 4), with warnings about omitted content."""

    pixels: npt.NDArray[np.uint8]
    warnings: tuple[str, ...]


class SegmentMaker(Protocol):
    """Renderer of segments. Tests replace it with a faster one."""

    @property
    def renderer(self) -> str:
        """Return build, GL renderer and encoder. Together with the assignment they determine the output bytes."""
        ...

    @property
    def backend(self) -> str:
        """Return the name of the compositing backend: `gl` or `cpu`."""
        ...

    @property
    def device(self) -> str:
        """Return the rendering device's name, for operators."""
        ...

    @property
    def encoder(self) -> str:
        """Return the encoder's name, for operators."""
        ...

    @property
    def may_pause(self) -> bool:
        """Return True if another segment can be rendered between two frames of a segment."""
        ...

    def segment_key(self, assignment: SegmentAssignment, media: MediaCache, should_stop: ShouldStop) -> str:
        """Return a digest of everything that the segment's bytes depend on. Raises RenderStopped soon after `should_stop` returns True."""
        ...

    def render(
        self,
        assignment: SegmentAssignment,
        media: MediaCache,
        path: Path,
        callbacks: Callbacks,
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        """Write the segment. Return the milliseconds of each stage and warnings. Raises RenderError, DocumentError."""
        ...

    def still(self, assignment: StillAssignment, frame_index: int, media: MediaCache) -> StillPicture:
        """Draw one frame of a still."""
        ...

    def free_disk(self, media: MediaCache) -> None:
        """Close idle documents, and delete cached files that no other document needs."""
        ...
