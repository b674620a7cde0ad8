"""The layers on top of a frame, laid by a loop instead of drawn by a software rasteriser, as far down as it knows how.

    steps    0 1 2 3 4 5 6 7          3 blends with all that is below it: a shader's work
             drawn --> laid ------>   4 to 7 are contents and light, each over what is below it

What is drawn is kept as it is read back, and drawn again only where it changes: layers that move above it do not touch it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.cpu.likeness import is_alike
from gpu_renderer.backends.cpu.operations import HostTexels, of_buffer, of_ink, of_light
from gpu_renderer.backends.gl import background, blend
from gpu_renderer.backends.gl.blit import is_by_channel
from gpu_renderer.backends.gl.executor import Executor
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import RenderGraph
from gpu_renderer.display_list.operations import Buffer, Coarse, Content, Laid, LaidStep
from gpu_renderer.display_list.paint import PLAIN
from gpu_renderer.frame.static_prefix import SETTLED_FRAMES, still_count
from gpu_renderer.geometry.region import Parts, Region, meets, pixels, shared
from gpu_renderer.host.loops import COARSE, Coat, Coats, Ground, Kernels, Variant, coat_of
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

Halves = npt.NDArray[np.uint16]


class Split(NamedTuple):
    """A graph as what is drawn, and what is laid over that in the parts asked for."""

    drawn_count: int
    """How many steps are drawn."""
    coats: Coats


class Compositor:
    """Splits the graphs of one sequence of frames, and keeps what is drawn of them."""

    def __init__(self, painter: Painter, executor: Executor, kernels: Kernels) -> None:
        self._painter, self._executor, self._kernels = painter, executor, kernels
        self._texels = HostTexels(painter)
        self._last: RenderGraph | None = None
        self._still_counts: deque[int] = deque(maxlen=SETTLED_FRAMES)
        self._halves: Halves | None = None
        self.drawn: RenderGraph | None = None
        """What was read back last."""

    def split(self, graph: RenderGraph, into: Target, parts: Parts, first: int = 0) -> Split | None:
        """Where laying begins, not below the step `first`; None where nothing is laid. Beyond the composition's clip nothing is."""
        shown = into.region.intersection(graph.scene.clip)
        is_by_table = into.format == "f2" and is_by_channel(graph.scene.color)
        if shown.is_empty or not is_by_table or not blend.is_opaque(graph, shown):
            return None
        found: list[tuple[Coat, ...]] = []
        count = len(graph.steps)
        first = first or self._settled_count(graph, parts)
        with self._executor.laying(graph, into) as laid:
            while count > first and (coats := self._coats(graph, count - 1, laid, parts)) is not None:
                found.append(coats)
                count -= 1
        return Split(count, Coats([coat for coats in reversed(found) for coat in coats])) if any(found) else None

    def _settled_count(self, graph: RenderGraph, parts: Parts) -> int:
        """How many steps at the bottom are better drawn once than laid again and again: they stand still beneath much that moves."""
        last, self._last = self._last, graph
        self._still_counts.append(0 if last is None else max(0, still_count(graph, last)))
        settled = min(self._still_counts) if len(self._still_counts) == SETTLED_FRAMES else 0
        drawn_count = 0 if self.drawn is None else len(self.drawn.steps)
        if self.drawn is not None and 0 < drawn_count <= settled and still_count(graph, self.drawn) == drawn_count:
            return settled
        regions = (bounds.of_step(step, graph.scene, self._executor.inks) for step in graph.steps[:settled])
        laid_px = sum(pixels(shared(parts, region)) for region in regions)
        return settled if laid_px > pixels((graph.scene.frame,)) else 0

    def is_plain(self, graph: RenderGraph) -> bool:
        """Whether all there is of a graph is one colour."""
        return not graph.steps and background.colour_of(graph) is not None

    def ground(self, graph: RenderGraph, part: Region) -> Ground:
        """What the coats of a part lie on: one colour where that is all there is of the graph, else what was read back."""
        if self.is_plain(graph):
            colour = background.colour_of(graph)
            assert colour is not None, "it is plain"
            red, green, blue = self._painter.cleared(colour, "f2")[:8].view(np.float16)[:3].tolist()
            return Ground(color=(red, green, blue))
        assert self._halves is not None, "it was read back"
        return Ground(halves=self._halves[part.y :, part.x :])

    def read(self, graph: RenderGraph, scene: Target, parts: Parts) -> None:
        """Takes over parts of a target that shows the graph, all that differs from what was taken over before."""
        if self._halves is None or self._halves.shape[1::-1] != scene.size:
            self._halves = np.empty((scene.region.height, scene.region.width, 4), np.uint16)
        self._painter.settle()
        for part in shared(parts, scene.region):
            first = self._halves[part.y :, part.x :]
            self._painter.calls.read_texels(scene.texture, part, first.ctypes.data, first.strides[0])
        self.drawn = graph

    def forget(self) -> None:
        """Keeps nothing that was drawn."""
        self._halves = self.drawn = self._last = None
        self._still_counts.clear()

    def _coats(self, graph: RenderGraph, index: int, laid: LaidStep, parts: Parts) -> tuple[Coat, ...] | None:
        """The coats of a step within the parts, from bottom to top; None where it is to be drawn."""
        region = bounds.of_step(graph.steps[index], graph.scene, self._executor.inks)
        if region.is_empty or not meets(parts, region):
            return () if bounds.lies_over(graph.steps[index]) else None
        contents = laid(index)
        if contents is None:
            return None
        coats = [coat for each in contents for coat in self._made(each, graph.scene.clip)]
        known = [coat for coat in coats if coat is not None and self._is_known(coat)]
        return tuple(known) if len(known) == len(coats) else None

    def _made(self, laid: Laid, within: Region) -> list[Coat | None]:
        """The coats of a content or light, of which those are None that the loop does not know."""
        if isinstance(laid, Coarse):
            return [coat_of(Variant(COARSE), within)]
        if isinstance(laid, Buffer):
            return of_buffer(laid, self._texels, within)
        if not isinstance(laid, Content):
            return [of_light(laid, self._texels, within)]
        look = laid.look
        is_masked = look.mask is not None
        if (look is not PLAIN and replace(look, mask=None) != PLAIN) or is_masked != (look.mask_pixels is not None):
            return [None]
        coat = of_ink(
            laid.ink, laid.quad, self._texels, within,
            opacity=laid.opacity, is_smooth=laid.is_smooth, known=laid.known, mode=laid.mode,
            mask=look.mask_pixels,
        )  # fmt: skip
        return [coat]

    def _is_known(self, coat: Coat) -> bool:
        return coat.region.is_empty or is_alike(self._painter, self._kernels, coat.variant)
