"""Draw layers whose blend mode is not a fixed function (format/compositing.md 3).

These modes quantise the whole target below the layer to 8 bits: in their own shader inside the layer, by `quantise`
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpu_renderer.backends.gl import layers, quads
from gpu_renderer.backends.gl.drawable import Drawable, quad_of, touched
from gpu_renderer.backends.gl.quad_shader import BackdropBlend
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.blending import is_stencil
from gpu_renderer.display_list.graph import MODES, Draw, Scene
from gpu_renderer.display_list.paint import Filter
from gpu_renderer.geometry.region import Rects, shared, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

DISSOLVE, DANCING_DISSOLVE = 35, 36


class Blending(NamedTuple):
    """Blending of a step's layer with a target. `is_opaque`: everything below has alpha 1.

    Both methods return the parts that need no quantisation any more.
    """

    painter: Painter
    into: Target
    step: Draw
    scene: Scene
    is_opaque: bool

    def draw(self, shown: Drawable | None, filter: Filter, rects: Rects) -> Rects:
        """Draw content blended with its backdrop, one sample a pixel."""
        if shown is None:
            return self._done(rects, ())
        quad = quad_of(shown, self.step.placement)
        drawn = shared(rects, touched(shown, quad, self.into.region))
        for held, backdrop in self._backdrops(drawn):
            style = Style(self.step.opacity, filter, "replace", is_smooth=False, backdrop=backdrop)
            quads.draw(self.painter, shown, quad, self.into, style, rects=held)
        return self._done(rects, drawn)

    def combine(self, layer: Target | None, rects: Rects) -> Rects:
        """Blend a layer's own buffer with its backdrop."""
        if layer is None:
            return self._done(rects, ())
        drawn = shared(rects, layer.region)
        for held, backdrop in self._backdrops(drawn):
            self.painter.draw(
                "compositing/combine.frag", self.into, textures={"u_layer": layer, **backdrop.textures}, scissor=held,
                defines=backdrop.defines, uniforms=backdrop.uniforms,
            )  # fmt: skip
        return self._done(rects, drawn)

    def _done(self, rects: Rects, drawn: Rects) -> Rects:
        """Return the drawn parts, or all parts under a stencil, which removes everything else."""
        if not is_stencil(self.step):
            return drawn
        self.painter.erase(self.into, without(rects, drawn))
        return rects

    def _backdrops(self, rects: Rects) -> Iterator[tuple[Rects, BackdropBlend]]:
        """Yield the parts with the backdrop blend of the step's shader."""
        mode, scene = MODES.get(self.step.blend, 0), self.scene
        defines: dict[str, object] = {"MODE": mode}
        if self.step.layer.preserve_transparency:
            defines["PRESERVE"] = 1
        if self.is_opaque:
            defines["BELOW"] = 1
        uniforms: dict[str, UniformValue] = {}
        if mode >= DISSOLVE:
            uniforms["u_cells"] = (scene.width, scene.height, *map(float, scene.frame[2:]))
            uniforms["u_seed"] = scene.dissolve_seed if mode == DANCING_DISSOLVE else 0
        for held, backdrop in backdrops(self.painter, self.into, rects):
            yield held, BackdropBlend({**defines, **backdrop.defines}, uniforms, backdrop.textures)


def quantise(painter: Painter, into: Target, rects: Rects) -> None:
    """Quantise the parts to 8 bits. `blit` does the same for parts still pending."""
    for held, backdrop in backdrops(painter, into, rects):
        painter.draw(
            "compositing/quantise.frag", into, textures=backdrop.textures, scissor=held, defines=backdrop.defines
        )


def backdrops(painter: Painter, into: Target, rects: Rects) -> Iterator[tuple[Rects, BackdropBlend]]:
    """Yield the parts with a way to read them: all at once in place if the driver can, else one copy each."""
    if painter.can_read_in_place:
        yield from [(rects, BackdropBlend({"IN_PLACE": 1}))] if rects else []
        return
    for part in rects:
        copied = layers.copied(painter, into, part)
        yield (part,), BackdropBlend({}, textures={"u_backdrop": copied})
        painter.pool.give_back(copied)
