"""Pixels of an opaque video base in a target. Only the pixels around the layers above are uploaded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_renderer.display_list.operations import DisplayList, DrawQuad, DrawVideo
from gpu_renderer.display_list.paint import Image, placed_quad
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Rects, around, pixels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

DRAWN_SHARE_MAX = 0.6
"""Share of the frame above which the whole frame is drawn."""


def needed(display_list: DisplayList, video: DrawVideo) -> Rects:
    """Return the parts of the frame to composite. Elsewhere an encoder uses the video's own samples, if it can."""
    frame = display_list.scene.frame
    rects = display_list.around_above_base
    return rects if video.is_own_size and pixels(rects) <= DRAWN_SHARE_MAX * pixels((frame,)) else (frame,)


class VideoTarget:
    """Target of the video base of one sequence of frames."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._target: Target | None = None

    def with_video(self, display_list: DisplayList, video: DrawVideo, rects: Rects) -> DisplayList:
        """Return the list with the base as an image whose parts are up to date, if the video has the frame's size."""
        bare = replace(display_list, background=None, background_paint=None)
        frame, box = display_list.scene.frame, around(rects)
        if not video.is_own_size or box.is_empty:
            return bare
        if self._target is None:
            self._target = self._painter.pool.take(frame, "f1", clear=False)
        self._target.texture.write(
            np.ascontiguousarray(video.shown.pixels_of(box)),
            viewport=(box.x, box.y, box.width, box.height),
            alignment=1,
        )
        image = Image(self._target, frame.width, frame.height, is_opaque=True)
        quad = matrix.product(matrix.translation(frame.x, frame.y), matrix.scaling(frame.width, frame.height))
        layer = replace(video.layer, paint=image, placed=placed_quad(image, quad, frame))
        return replace(bare, operations=(DrawQuad(layer, frame), *display_list.operations[1:]))

    def forget(self) -> None:
        """Give the target back."""
        self._painter.pool.give_back(self._target)
        self._target = None
