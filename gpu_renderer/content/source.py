"""Interface of the rasterisers to the compositor: boxes, rasters and masks of sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.raster import Raster
from motion.snapshot import MaskPath, Snapshot, Source, VideoSource


class ContentSource(Protocol):
    """Answers by value and keeps what it made: the same source gives the same object again."""

    def monospace(self) -> Any:
        """Skia's typeface for counters; None where there is none."""

    def box(self, source: Source) -> tuple[float, float]:
        """Width and height of the layer box, px."""

    def with_character_planes(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot with each text layer of per-character 3D as a plane for each glyph."""

    def raster(self, source: Source, supersample: float, bleed_px: float = 0.0) -> Raster | None:
        """Return the source's pixels at `supersample` raster px per layer px; None where there is nothing to draw."""

    def footage(self, source: VideoSource) -> DecodedFrame | None:
        """Return the one decoded frame that a video shows; None where there is none, or several are mixed."""

    def mask(
        self,
        paths: Sequence[MaskPath],
        width: float,
        height: float,
        supersample: float,
        sigma_factor: float,
        padding: float = 0.0,
    ) -> npt.NDArray[np.uint8]:
        """Return the coverage of mask paths over a box and its padding, shape (rows, columns)."""
