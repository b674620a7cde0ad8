"""Convert a video frame to RGB on the GPU. Its 4:2:0 samples are uploaded, which have 3/8 of the pixels' bytes."""

from __future__ import annotations

from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


def converted(painter: Painter, shown: DecodedFrame) -> Target | None:
    """Return a target with the same bytes as `shown.pixels`, or None if the shader does not support the frame.

    The target is 8-bit RGBA (`f1`), display-encoded, with a pixel for each pixel of the frame. The caller owns it.
    """
    if not shown.has_plain_samples:
        return None
    target = painter.pool.take(Region(0, 0, *shown.size), "f1", clear=False)
    planes = dict(zip(("u_luma", "u_blue", "u_red"), painter.textures.planes(shown.samples()), strict=True))
    weights = ", ".join(f"{weight}u" for weight in shown.weights().tolist())
    painter.draw("convert/samples.frag", target, textures=planes, defines={"WEIGHTS": weights})
    return target
