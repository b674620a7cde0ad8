"""Passes of one layer's effects on the GPU route, over its buffer in screen space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpu_renderer.effects.blur_passes import blurred
from gpu_renderer.effects.blur_weights import reference_gaussian
from gpu_renderer.effects.glow_pass import GlowPass, MipChain, with_glow
from gpu_renderer.effects.layer_buffer import GlowBuffer, LayerBuffer, flattened, softened
from gpu_renderer.effects.scene import EffectScene
from gpu_renderer.effects.surface import Surface, Textures, Uniforms, is_pointwise
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target
from shaders.joining import Joined, name_in

JOINED_MAX = 8
"""Largest number of passes in one shader, so that its compile time stays bounded."""


class PointwisePass(NamedTuple):
    """A pass that computes each pixel from the same pixel alone, with its inputs."""

    shader: str
    defines: Defines
    textures: Textures
    uniforms: Uniforms


class EffectChain(Surface):
    """A layer's buffer while the passes of its effects run over it. Soft passes put a glow behind it.

    `limit`: region that contains all pixels of the buffer and of its glow.
    """

    def __init__(
        self,
        painter: Painter,
        target: Target,
        scene: EffectScene,
        limit: Region,
        *,
        in_place: bool = False,
        rects: Rects | None = None,
        halvings: int = 0,
    ) -> None:
        """`in_place`: run pointwise passes on the target itself.

        `rects`: the parts of the target that these passes change. `halvings`: how often the size of the target has been
        halved. The first pass is then a blur that halves it more often.
        """
        super().__init__(painter, target)
        self.scene = scene
        self._in_place = in_place and painter.can_read_in_place
        self._rects = rects
        self._glow: GlowBuffer | None = None
        self._is_glow_alone = False
        self._mips: MipChain | None = None
        self._limit = limit
        self._halvings = halvings
        self._queued: list[PointwisePass] = []
        self._common = _common_uniforms(scene)
        self.shared: dict[type, object] = {}
        """Values shared by the effects of one class, keyed by the class. The first of these effects sets the value."""

    @property
    def buffer(self) -> LayerBuffer:
        """Picture after the last pass, with its glow."""
        return LayerBuffer(self.target, self._glow, self._is_glow_alone)

    def run_pass(
        self,
        shader: str,
        values: EffectValues | None,
        *,
        uniforms: Uniforms | None,
        textures: Textures,
        defines: Defines,
    ) -> None:
        """Run a pass of `apply`. A pointwise pass is queued, and runs in place if it can."""
        if not is_pointwise(shader):
            assert self._rects is None, "a pass that is not pointwise has a picture of its own"
            super().run_pass(shader, values, uniforms=uniforms, textures=textures, defines=defines)
            return
        known = self.uniforms(shader, values, uniforms, defines)
        self.queue(PointwisePass(shader, (*self.variant(values), *defines), textures, known))

    def queue(self, step: PointwisePass) -> None:
        """Queue a pointwise pass, to run as one shader with the pointwise passes before and after it."""
        self._queued.append(step)
        can_join = self._target.format == "f2" and self.painter.half_store is not None
        if not can_join or len(self._queued) == JOINED_MAX:
            self.flush()

    def flush(self) -> None:
        """Run the queued passes as one."""
        queued, self._queued = self._queued, []
        if not queued:
            return
        shader, defines, textures, uniforms = _one_pass(queued, self.painter.half_store)
        if not self._in_place:
            assert self._rects is None, "parts of a picture are drawn in place"
            self.replace(
                self.painter.applied(shader, self._target, textures=textures, defines=defines, uniforms=uniforms)
            )
            return
        self.painter.draw(
            shader, self._target, textures=textures, scissor=self._rects, defines={**defines, "IN_PLACE": 1},
            uniforms=uniforms,
        )  # fmt: skip

    def apply_by_cells(self, shader: str, values: EffectValues, cells: Region, format: Format) -> None:
        """Replace the picture by a pass that reads the means of cells (shaders/include/cell_means.glsl).

        An extra pass computes each mean once, into a target of the format, unless there are fewer pixels than cells.
        """
        if cells.width * cells.height > self.target.region.width * self.target.region.height:
            self.apply(shader, values)
            return
        means = self.passed(shader, values, defines=(("CELLS", "1"),), region=cells, format=format)
        self.apply(shader, values, defines=(("MEANS", "1"),), spent={"u_means": means})

    def cast(self, glow_pass: GlowPass) -> None:
        """Put one more glow or shadow behind the picture."""
        if self._glow is not None:
            region = glow_pass.region(self.buffer, self._limit)
            if self._glow.cut_from is not None or glow_pass.shown(region, self.scene.frame) != region:
                self.flatten()
        self._mips = self._mips or MipChain(self.painter, self.target)
        buffer = with_glow(self.painter, self.buffer, self._mips, glow_pass, self._limit, self.scene)
        self._glow = buffer.glow

    def soften(self, sigma: float) -> None:
        """Blur the picture by a Gaussian."""
        self.flatten()
        exact, halvings = self.scene.exact_blur, self._halvings
        buffer = softened(self.painter, self.target, sigma, self._limit, exact=exact, halvings=halvings)
        self._halvings = 0
        self.target, self._glow, self._is_glow_alone = buffer.sharp, buffer.glow, buffer.is_glow_alone

    def soften_axes(self, across: float, down: float) -> None:
        """Blur the picture by Gaussians of two sigmas, px.

        Used in a buffer whose pixels are not square on the layer.
        """
        self.flatten()
        self.replace(blurred(self.painter, self.target, reference_gaussian(across), reference_gaussian(down)))

    def flatten(self) -> None:
        """Draw the picture and its glow into one target."""
        if self._glow is None:
            return
        self.release()
        self.target, self._glow, self._is_glow_alone = flattened(self.painter, self.buffer), None, False

    def release(self) -> None:
        """Give back the targets that are kept beside the picture."""
        if self._mips is not None:
            self._mips.release()
        self._mips = None

    def common(self) -> dict[str, UniformValue]:
        """Return the frame and layer geometry (shaders/include/chain.glsl)."""
        return self._common

    def parameters(self, values: EffectValues) -> dict[str, UniformValue]:
        """Return the parameters with lengths as stored. Colours carry their opacity as alpha."""
        found = dict[str, UniformValue](values.uniforms())
        effect = values.effect
        for key, opacity in effect.folded.items():
            found[effect.by_key[key].uniform] = values.color_with(key, values.fraction(opacity))
        found.update(effect.derive(values, self.scene.layer_width, self.scene.layer_height))
        return found

    def map_layer(self, layer_id: str) -> Target | None:
        """Return another layer over the whole frame, or None if the id is unset, unknown or the layer's own."""
        return self.scene.layer_target(layer_id) if layer_id and layer_id != self.scene.layer_id else None


class RecordedPasses(EffectChain):
    """Chain that records pointwise passes in `passes` and runs none."""

    def __init__(self, painter: Painter, target: Target, scene: EffectScene, limit: Region) -> None:
        """`target` gives the format of the passes. Nothing is drawn into it."""
        super().__init__(painter, target, scene, limit)
        self.passes: list[PointwisePass] = []

    def queue(self, step: PointwisePass) -> None:
        """Record a pass."""
        self.passes.append(step)


def _one_pass(
    passes: list[PointwisePass], store: int | None
) -> tuple[str | Joined, Mapping[str, object], Textures, Uniforms]:
    """Return the shader of the passes, its #defines and its inputs. `store`: rounding between two passes."""
    if len(passes) == 1:
        shader, defines, textures, uniforms = passes[0]
        return shader, dict(defines), textures, uniforms
    joined = Joined(tuple((each.shader, each.defines) for each in passes))
    textures = {name_in(index, name): of for index, each in enumerate(passes) for name, of in each.textures.items()}
    uniforms = {name_in(index, name): of for index, each in enumerate(passes) for name, of in each.uniforms.items()}
    return joined, {"STORE": store}, textures, uniforms


def _common_uniforms(scene: EffectScene) -> dict[str, UniformValue]:
    width, height = float(scene.frame.width), float(scene.frame.height)
    return {
        "u_frame_size": (width, height),
        "u_pixel_size": (1.0 / width, 1.0 / height),
        "u_box": tuple(map(float, scene.layer_box)),
        "u_layer_size": scene.sides,
        "u_mirrored": int(scene.mirrored),
        "u_length_scale": scene.length_scales,
    }
