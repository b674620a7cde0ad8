"""Blend modes: which are fixed functions of the GPU, and the pass that combines all others (format/compositing.md 3)."""

from __future__ import annotations

from collections.abc import Mapping

from gpu_renderer import area
from gpu_renderer.compositing import layers
from gpu_renderer.graph import Draw, Scene
from gpu_renderer.painter import Blend, Painter
from gpu_renderer.programs import UniformValue
from gpu_renderer.region import Parts, Region, around, outside, shared
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

STENCIL, DISSOLVE, DANCING_DISSOLVE = 31, 35, 36


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


def keeps_beyond(step: Draw) -> bool:
    """Whether a combined layer leaves what lies beyond it as it is once it has passed through 8 bits.

    By the same arithmetic as all other such layers: what one of them wrote, none of them changes there.
    """
    return MODES.get(step.blend, 0) < STENCIL and step.blend != "luminescent-premul"


def combine(
    painter: Painter,
    into: Target,
    layer: Target | None,
    step: Draw,
    scene: Scene,
    opacity: float,
    parts: Parts,
    beyond: Parts,
    *,
    in_place: bool,
) -> None:
    """Replaces the parts of the target by the layer blended with it where that holds pixels, and elsewhere by an 8-bit copy.

    `beyond`: the parts where that copy is needed. `in_place` as in `blit`.
    """
    mode = MODES.get(step.blend, 0)
    defines: dict[str, object] = {"MODE": mode, **({"PRESERVE": 1} if step.layer.preserve_transparency else {})}
    uniforms: dict[str, UniformValue] = {}
    if mode >= DISSOLVE:
        uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
        uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
    if layer is not None:
        with_layer = {**uniforms, "u_opacity": opacity}
        _replace(painter, into, {"u_layer": layer}, shared(parts, layer.region), defines, with_layer, in_place)
        beyond = outside(beyond, layer.region)
    _replace(painter, into, {}, beyond, defines | {"EMPTY": 1}, uniforms, in_place)


def _replace(
    painter: Painter,
    into: Target,
    textures: Mapping[str, Target],
    parts: Parts,
    defines: Mapping[str, object],
    uniforms: Mapping[str, UniformValue],
    in_place: bool,
) -> None:
    shader = "compositing/combine.frag"
    if in_place and painter.can_read_in_place:
        in_place_defines = {**defines, "IN_PLACE": 1}
        painter.draw(shader, into, textures=textures, scissor=parts, defines=in_place_defines, uniforms=uniforms)
        return
    for part in parts:
        backdrop = layers.copied(painter, into, part)
        read = {**textures, "u_backdrop": backdrop}
        painter.draw(shader, into, textures=read, scissor=part, defines=defines, uniforms=uniforms)
        painter.pool.give_back(backdrop)


class Coarseness:
    """What of a target has passed through 8 bits, by the pass of a combined layer, and was not drawn on since."""

    def __init__(self) -> None:
        self._stale: list[Region] | None = None
        """Where it was drawn on since the last such pass; None before the first."""

    def drawn(self, parts: Parts) -> None:
        """Learns of pixels that hold more than 8 bits now."""
        if self._stale is not None:
            self._stale.extend(parts)

    def passed(self, step: Draw, layer: Target | None, parts: Parts) -> Parts:
        """Where the pass of a combined layer changes the parts beyond the layer. Taken as done."""
        stale = None if self._stale is None or not keeps_beyond(step) else area.area(around(parts), self._stale)
        drawn = shared(parts, layer.region) if layer is not None else ()
        self._stale = list(drawn) if keeps_beyond(step) else None
        return parts if stale is None else tuple(p for tiles in stale.parts() for p in shared(parts, tiles))
