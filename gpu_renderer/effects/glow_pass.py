"""Glow passes: a glow or shadow of one colour behind a picture, from its blurred silhouette (effects.md 8.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpu_renderer.effects.blur_passes import halved, mip_blurred
from gpu_renderer.effects.blur_weights import blur_margin_px
from gpu_renderer.effects.layer_buffer import MARGIN_PX, GlowBuffer, LayerBuffer, cells, glow_cells, glow_target
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Rects, Region, outside, shared
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

SIGMA_CELLS = 2.5
"""Smallest sigma of a glow, in cells of its buffer. Cells can be large because glows have no detail and short tails."""
LEVELS_MAX = 5


@dataclass(frozen=True, slots=True)
class GlowPass:
    """A glow of one colour (straight sRGB, strength as alpha), from the alpha blurred by `sigma`, px.

    `wide_sigma`: sigma of a second, wider lobe, or 0 for none.
    `axis_shares`: factors of the horizontal and vertical sigmas, for a buffer whose pixels are not square on the layer.
    """

    color: Rgba
    sigma: float
    wide_sigma: float = 0.0
    offset: tuple[float, float] = (0.0, 0.0)
    axis_shares: tuple[float, float] = (1.0, 1.0)

    @property
    def is_displaced(self) -> bool:
        """True for a shadow that is displaced from its silhouette."""
        return self.offset != (0.0, 0.0)

    @property
    def margin_px(self) -> float:
        """Margin outside the silhouette, px."""
        return blur_margin_px(max(self.sigma, self.wide_sigma)) + math.hypot(*self.offset)

    def region(self, layer: LayerBuffer, limit: Region) -> Region:
        """Return the frame pixels within the limit that this glow and the layer's existing glow can paint."""
        return layer.region.grown(math.ceil(self.margin_px) + MARGIN_PX).intersection(limit)

    def shown(self, region: Region, frame: Region) -> Region:
        """Return the part of a region where the glow is visible.

        The reference displaces the blurred frame, so nothing moves in from outside the frame.
        """
        return region.intersection(frame.displaced(*self.offset)) if self.is_displaced else region


class MipChain:
    """Mip chain of a sharp picture's alpha: 1/2, 1/4 ... of the frame's size, each level computed once."""

    def __init__(self, painter: Painter, sharp: Target) -> None:
        self._painter = painter
        self._made: list[Target] = [sharp]

    def at(self, levels: int) -> Target:
        """Return the alpha, in every channel, halved `levels` times, or the picture itself for 0.

        The chain owns the target.
        """
        while len(self._made) <= levels:
            self._made.append(halved(self._painter, self._made[-1], 1, "a2", has_rim=True))
        return self._made[levels]

    def release(self) -> None:
        """Give the chain's own targets back."""
        self._painter.pool.give_back(*self._made[1:])
        del self._made[1:]


def with_glow(
    painter: Painter,
    layer: LayerBuffer,
    mips: MipChain,
    glow_pass: GlowPass,
    limit: Region,
    scene: EffectScene,
) -> LayerBuffer:
    """Return the layer with one more glow, behind the layer and its existing glow, within the limit.

    Takes ownership of the layer's targets. `mips`: chain of the sharp picture. Pixels outside the scene's frame cast no
    glow.

    If the layer has a glow and either glow is cut (`GlowPass.shown`), flatten the layer first: cells cannot hold the
    edge.
    """
    region = glow_pass.region(layer, limit)
    shape = _Silhouette(painter, mips, layer.glow, layer.region.intersection(limit))
    lobes = {"near": glow_pass.sigma} | ({"far": glow_pass.wide_sigma} if glow_pass.wide_sigma > 0 else {})
    across, down = glow_pass.axis_shares
    blurs = {
        name: _blurred_silhouette(painter, shape, (sigma * across, sigma * down), region, exact=scene.exact_blur)
        for name, sigma in lobes.items()
    }
    front = layer.glow
    levels = min([glow.levels for glow in blurs.values()] + ([front.levels] if front else []))
    target = glow_target(painter, region, levels, layer.sharp.format)
    drawn = glow_cells(region, levels)
    glow_before = glow_cells(front.region, levels) if front else Region(drawn.x, drawn.y, 0, 0)
    made = GlowBuffer(target, levels, region)
    if front:
        _draw(painter, made, glow_pass, blurs, shared((drawn,), glow_before), front)
    _draw(painter, made, glow_pass, blurs, outside((drawn,), glow_before), None)
    shape.release()
    painter.pool.give_back(*(blur.target for blur in blurs.values()), *([front.target] if front else []))
    shown = glow_pass.shown(region, scene.frame)
    return replace(layer, glow=replace(made, region=shown, cut_from=region if shown != region else None))


def _draw(
    painter: Painter,
    into: GlowBuffer,
    glow_pass: GlowPass,
    blurs: dict[str, GlowBuffer],
    rects: Rects,
    front: GlowBuffer | None,
) -> None:
    """Draw rectangles of cells of a glow: the silhouette's blurs, named as in the shader, behind the glow `front` of the layer."""
    shares: dict[str, UniformValue] = {f"u_{name}_share": 1 / blur.cell_px for name, blur in blurs.items()}
    own: dict[str, UniformValue] = {
        "u_cell": into.cell_px,
        "u_offset": glow_pass.offset,
        "u_color": tuple(glow_pass.color),
    }
    painter.draw(
        "effects/glow_pass.frag",
        into.target,
        textures={f"u_{name}": blur.target for name, blur in blurs.items()} | (front.textures if front else {}),
        scissor=rects,
        defines=({"FAR": 1} if "far" in blurs else {}) | ({"FRONT": 1, **front.defines} if front else {}),
        uniforms={**shares, **own, **(front.uniforms if front else {})},
    )


class _Silhouette:
    """Mip chain of the alpha of a picture together with its glow. Its region can be larger than the glow's."""

    def __init__(self, painter: Painter, mips: MipChain, glow: GlowBuffer | None, region: Region) -> None:
        self._painter = painter
        self._mips = mips
        self._glow = glow
        self._region = region
        self._made: dict[int, Target] = {}

    def at(self, levels: int) -> Target:
        """Return the alpha, halved `levels` times. The chain owns the target."""
        glow = self._glow
        if glow is None:
            return self._mips.at(levels)
        if levels not in self._made:
            if levels <= glow.levels:
                self._made[levels] = self._over_glow(self._mips.at(levels), glow, levels)
            else:
                self._made[levels] = halved(self._painter, self.at(levels - 1), 1, has_rim=True)
        return self._made[levels]

    def release(self) -> None:
        """Give the chain's own targets back."""
        self._painter.pool.give_back(*self._made.values())

    def _over_glow(self, alpha: Target, glow: GlowBuffer, levels: int) -> Target:
        return self._painter.applied(
            "effects/glowing_alpha.frag",
            alpha,
            region=cells(self._region, levels),
            format="a2",
            textures=glow.textures,
            defines=glow.defines,
            uniforms={"u_cell": float(1 << levels), **glow.uniforms},
        )


def _blurred_silhouette(
    painter: Painter, shape: _Silhouette, sigmas: tuple[float, float], region: Region, *, exact: bool
) -> GlowBuffer:
    """Return the silhouette blurred over a region of the frame, with a sigma for each axis.

    The caller owns its target.
    """
    sharpest = min(sigmas)
    levels = 0 if exact else _levels_of(sharpest)
    alpha, drawn = shape.at(levels), glow_cells(region, levels)
    if sharpest <= 0:
        alone = painter.applied("effects/alpha.frag", alpha, region=drawn, format="a2")
        return GlowBuffer(alone, levels, region)
    return GlowBuffer(mip_blurred(painter, alpha, sigmas, levels, drawn, "a2"), levels, region)


def _levels_of(sigma: float) -> int:
    """Return how often the silhouette is halved before a Gaussian of this sigma."""
    return min(LEVELS_MAX, max(0, math.floor(math.log2(max(1.0, sigma / SIGMA_CELLS)))))
