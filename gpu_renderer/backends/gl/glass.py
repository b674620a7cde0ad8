"""Layers that show their backdrop blurred or refracted (format/compositing.md 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from gpu_renderer.backends.gl import layers
from gpu_renderer.display_list.blending import fixed_function
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.effects import layer_buffer
from gpu_renderer.effects.gaussian import blurred, halved, reference_gaussian
from gpu_renderer.effects.layer_buffer import LayerBuffer
from gpu_renderer.geometry import color
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target
from motion.snapshot import Glass


def draw(painter: Painter, into: Target, layer: Target, step: Draw, scene: Scene, part: Region) -> None:
    """Draw the layer as glass. Only its alpha counts; its fill is not visible."""
    glass = step.layer.glass
    assert glass is not None
    with _behind(painter, into, glass.blur) as (backdrop, scale):
        painter.draw(
            "compositing/glass.frag",
            into,
            textures={"u_layer": layer, "u_backdrop": backdrop},
            blend="over",
            scissor=part.intersection(layer.region),
            uniforms={"u_backdrop_scale": scale, **_uniforms(glass, scene)},
        )


def blur_backdrop(painter: Painter, into: Target, layer: Target, step: Draw, part: Region) -> None:
    """Draw the blurred backdrop through the layer's alpha, then the layer itself."""
    with _behind(painter, into, step.layer.backdrop_blur) as (backdrop, scale):
        painter.draw(
            "compositing/frosted.frag",
            into,
            textures={"u_layer": layer, "u_backdrop": backdrop},
            blend="over",
            scissor=part.intersection(layer.region),
            uniforms={"u_backdrop_scale": scale},
        )
    layer_buffer.draw(painter, into, LayerBuffer(layer), (part,), fixed_function(step))


@contextmanager
def _behind(painter: Painter, into: Target, blur_px: float) -> Iterator[tuple[Target, float]]:
    """Yield the target's present content with its scale: blurred at half size, or unchanged without a blur."""
    copy = layers.copied(painter, into, into.region)
    small = soft = None
    if blur_px > 0:
        small = halved(painter, copy, 1)
        soft = blurred(painter, small, reference_gaussian(blur_px / 2))
    try:
        yield (copy, 1.0) if soft is None else (soft, 0.5)
    finally:
        painter.pool.give_back(copy, small, soft)


def _uniforms(glass: Glass, scene: Scene) -> dict[str, UniformValue]:
    tint, rim = color.parse(glass.tint_color), color.parse(glass.rim_color)
    return {
        "u_frame_size": (float(scene.frame.width), float(scene.frame.height)),
        "u_pixel_size": (1.0 / scene.frame.width, 1.0 / scene.frame.height),
        "u_saturation": max(0.0, glass.saturation),
        "u_tint": (*tint[:3], tint.alpha * min(max(glass.tint_opacity, 0.0), 1.0)),
        "u_rim_color": tuple(rim[:3]),
        "u_lengths": (glass.edge_width, glass.refraction, glass.chromatic_aberration, glass.rim_width),
        "u_lights": (
            math.radians(glass.rim_angle),
            math.radians(glass.specular_angle),
            max(0.0, glass.specular_intensity),
            max(0.1, glass.specular_falloff),
        ),
        "u_rim_opacity": min(max(glass.rim_opacity, 0.0), 1.0),
        "u_grain": glass.grain,
    }
