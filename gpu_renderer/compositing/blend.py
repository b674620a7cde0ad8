"""Blend modes: which are fixed functions of the GPU, and the pass that combines all others (format/compositing.md 3)."""

from __future__ import annotations

from gpu_renderer.compositing import layers
from gpu_renderer.graph import Draw, Scene
from gpu_renderer.painter import Blend, Painter
from gpu_renderer.programs import UniformValue
from gpu_renderer.region import Region
from gpu_renderer.targets import Target
from motion.snapshot import LightWash, ParticleSource

MODES = {
    "normal": 0, "multiply": 1, "screen": 2, "overlay": 3, "darken": 4, "lighten": 5, "color-dodge": 6, "color-burn": 7,
    "hard-light": 8, "soft-light": 9, "difference": 10, "exclusion": 11, "hue": 12, "saturation": 13, "color": 14,
    "luminosity": 15, "linear-burn": 16, "linear-dodge": 17, "linear-light": 18, "vivid-light": 19, "pin-light": 20,
    "hard-mix": 21, "subtract": 22, "divide": 23, "classic-color-burn": 24, "classic-color-dodge": 25,
    "classic-difference": 26, "darker-color": 27, "lighter-color": 28, "alpha-add": 29, "luminescent-premul": 30,
    "stencil-alpha": 31, "stencil-luma": 32, "silhouette-alpha": 33, "silhouette-luma": 34, "dissolve": 35,
    "dancing-dissolve": 36,
}  # fmt: skip
"""The numbers of the modes in the table of compositing.md 3.2, as shaders/include/blend.glsl knows them."""

DISSOLVE, DANCING_DISSOLVE = 35, 36


def fixed(step: Draw) -> Blend:
    """The fixed function of a layer; lights screen and additive particles add where their own blend is normal."""
    if step.blend == "add":
        return "add"
    if step.blend == "normal" and isinstance(step.layer.source, LightWash):
        return "screen"
    if step.blend == "normal" and isinstance(step.layer.source, ParticleSource) and step.layer.source.additive:
        return "add"
    return "over"


def takes_opacity_first(step: Draw) -> bool:
    """Whether opacity is part of the content, before the effects, as on every route but the plain one."""
    layer = step.layer
    is_combined = step.blend not in ("normal", "add") or layer.preserve_transparency
    return is_combined or step.matte is not None or layer.glass is not None or layer.backdrop_blur > 0


def combine(
    painter: Painter, into: Target, layer: Target | None, step: Draw, scene: Scene, opacity: float, part: Region
) -> None:
    """Replaces `part` of the target by the layer blended with it; without a layer only the 8-bit copy shows."""
    mode = MODES.get(step.blend, 0)
    backdrop = layers.copied(painter, into, part)
    source = layer or painter.pool.take(Region(part.x, part.y, 1, 1))
    uniforms: dict[str, UniformValue] = {"u_opacity": opacity}
    if mode >= DISSOLVE:
        uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
        uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
    painter.draw(
        "compositing/combine.frag",
        into,
        textures={"u_backdrop": backdrop, "u_layer": source},
        scissor=part,
        defines={"MODE": mode} | ({"PRESERVE": 1} if step.layer.preserve_transparency else {}),
        uniforms=uniforms,
    )
    painter.pool.give_back(backdrop, None if layer else source)
