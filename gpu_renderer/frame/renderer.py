"""Draw a snapshot into display-encoded pixels. Only the damage since the last frame is composited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from gpu_renderer.backends.compositor import BackendName, Compositor, Frame, RenderedFrame
from gpu_renderer.backends.cpu.compositor import CpuCompositor
from gpu_renderer.backends.gl.compositor import GlCompositor, linear_format
from gpu_renderer.backends.gl.drawing import ListDrawing
from gpu_renderer.cache.layers import LAYER_BYTES_MAX, LayerCache
from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list import routing
from gpu_renderer.display_list.changes import StablePrefix, changed
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import Draw, MovedLayer, RenderGraph
from gpu_renderer.display_list.layer_contents import LayerContents
from gpu_renderer.display_list.lower import lowered
from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.encode.planes import VideoPassthrough
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Optimisations:
    """Optimisation flags, all on by default. Apart from `native_kernels`, none changes the pixels.

    `native_kernels` selects the backend. Both backends agree within the golden tolerance. A test renders with each flag
    off. `./farm bench optimisations` measures the gains.
    """

    damage: bool = True
    """Composite only the damage since the last frame. An unchanged frame is not composited at all."""
    layer_cache: bool = True
    """Keep unchanged layer buffers, groups, flattened planes and glows for the next frames."""
    static_prefix: bool = True
    """Cache the pixels of unchanged operations at the bottom."""
    video_passthrough: bool = True
    """Pass the samples of a video that fills the frame to the encoder. A kernel resamples a video of another size."""
    native_kernels: bool = True
    """Composite with native kernels (the CPU backend) if OpenGL runs on the processor."""


class _LastFrame(NamedTuple):
    """The last frame with the arguments of its `draw` call: snapshot, `passes_video`, size."""

    inputs: tuple[Snapshot, bool, Region]
    display_list: DisplayList
    rendered: RenderedFrame


class FrameRenderer:
    """Renderer of snapshots, one per context and thread. The size can change between frames.

    `is_transparent`: leave out the composition's background and return straight colour and alpha.
    `still_scale`: size of a still relative to its video.
    """

    def __init__(
        self,
        painter: Painter,
        contents: Contents,
        optimisations: Optimisations | None = None,
        *,
        is_transparent: bool = False,
        still_scale: float = 1.0,
    ) -> None:
        self._is_transparent, self._still_scale = is_transparent, still_scale
        self._painter = painter
        self._contents = contents
        self._optimisations = optimisations or Optimisations()
        self._layer_contents = LayerContents(contents)
        self._cache = LayerCache(painter.pool, LAYER_BYTES_MAX if self._optimisations.layer_cache else 0)
        self.backend = backend_of(painter, self._optimisations)
        """Name of the compositing backend."""
        native, drawing = kernels(), ListDrawing(painter, self._layer_contents, self._cache)
        self._compositor: Compositor = (
            GlCompositor(drawing, keeps_alpha=is_transparent)
            if self.backend == "gl" or native is None
            else CpuCompositor(drawing, native, keeps_alpha=is_transparent)
        )
        self._stable_prefix = StablePrefix()
        self._last_frame: _LastFrame | None = None
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each unsupported feature of the snapshots drawn so far."""
        return tuple(self._warnings)

    def draw(self, snapshot: Snapshot, width: int, height: int, *, passes_video: bool = False) -> RenderedFrame:
        """Return the frame. Its pixels belong to the renderer until the next call.

        `passes_video`: if the lowest layer is a video that fills the frame pixel for pixel, return its samples as
        `passthrough`. The frame is then undefined outside the pixels drawn over it.
        """
        last, frame = self._last_frame, Region(0, 0, width, height)
        inputs = (snapshot, passes_video, frame)
        is_repeat = last is not None and last.inputs == inputs
        if last is not None and is_repeat and self._optimisations.damage:
            return last.rendered._replace(changed=damage.nothing(frame), is_repeat=True)
        graph = self._compiled(snapshot, width, height)
        finds_video = passes_video and self._optimisations.video_passthrough and not self._is_transparent
        display_list = lowered(graph, self._layer_contents, finds_video=finds_video)
        dirty = self._damage(display_list)
        drawn = self._composited(display_list, dirty)
        self._layer_contents.end_frame()
        self._cache.trim()
        self._painter.end_frame()
        rendered = RenderedFrame(drawn, dirty, _passthrough(display_list), is_repeat)
        self._last_frame = _LastFrame(inputs, display_list, rendered)
        return rendered

    def release(self) -> None:
        """Release every target and clear the caches."""
        self._last_frame = None
        self._stable_prefix.reset()
        self._compositor.release()
        self._cache.clear()
        self._painter.textures.release()

    def _compiled(self, snapshot: Snapshot, width: int, height: int) -> RenderGraph:
        """Return the snapshot's graph. Its unsupported features become warnings."""
        shown, contents = self._contents.with_character_planes(snapshot), self._layer_contents
        graph = compiled(shown, width, height, self._contents.box, self._still_scale, contents.steps, contents.records)
        for step in graph.steps:
            if not isinstance(step, MovedLayer) and not (isinstance(step, Draw) and step.is_bare):
                self._warnings.update(dict.fromkeys(routing.unsupported(step)))
        return replace(graph, background=None, background_paint=None) if self._is_transparent else graph

    def _composited(self, display_list: DisplayList, dirty: Damage) -> Frame:
        """Composite the damage and return the frame."""
        stable_count = self._stable_prefix.observe(display_list) if self._optimisations.static_prefix else 0
        if self._last_frame is not None and dirty.is_empty:
            return self._last_frame.rendered.frame
        return self._compositor.composite(display_list, dirty, stable_count)

    def _damage(self, display_list: DisplayList) -> Damage:
        """Return the damage: the whole frame after a change of size, format, colour management or video base."""
        frame = display_list.scene.frame
        if self._last_frame is None or not self._optimisations.damage:
            return damage.whole(frame)
        last = self._last_frame.display_list
        if _base_of(last) != _base_of(display_list):
            return damage.whole(frame)
        return changed(last, display_list, self._compositor.prefix_count(display_list))


def backend_of(painter: Painter, optimisations: Optimisations) -> BackendName:
    """Return the backend of a session: native kernels if OpenGL runs on the processor."""
    is_cpu = optimisations.native_kernels and painter.is_software and kernels() is not None
    return "cpu" if is_cpu else "gl"


def _passthrough(display_list: DisplayList) -> VideoPassthrough | None:
    video = display_list.video
    if video is None or not video.is_own_size:
        return None
    return VideoPassthrough(video.shown.samples, display_list.above_base)


def _base_of(display_list: DisplayList) -> tuple[object, ...]:
    scene = display_list.scene
    return scene.frame, linear_format(display_list), scene.color, display_list.video is None
