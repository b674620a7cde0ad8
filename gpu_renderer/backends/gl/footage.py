"""Frames of videos as targets: a GPU converts their samples, which are three eighths of the bytes of their pixels."""

from __future__ import annotations

from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


def converted(painter: Painter, shown: DecodedFrame) -> Target | None:
    """Return a target with the same bytes as `shown.pixels`; None for a frame of a kind that the shader does not convert.

    The caller owns the target.
    """
    if not shown.has_plain_samples:
        return None
    target = painter.pool.take(Region(0, 0, *shown.size), "f1", clear=False)
    planes = dict(zip(("u_luma", "u_blue", "u_red"), painter.textures.planes(shown.samples()), strict=True))
    weights = ", ".join(f"{weight}u" for weight in shown.weights().tolist())
    painter.draw("convert/samples.frag", target, textures=planes, defines={"WEIGHTS": weights})
    return target
