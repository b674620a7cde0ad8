"""One frame: snapshot in, display-encoded pixels out. What did not change since the last one is not drawn again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from gpu_renderer.backends.cpu.compositor import Compositor, Split
from gpu_renderer.backends.cpu.overlay import StillLayers, linear_codes
from gpu_renderer.backends.cpu.picture import HostPicture
from gpu_renderer.backends.cpu.resampling import Filter, Filters, Stretch
from gpu_renderer.backends.gl import background, blend
from gpu_renderer.backends.gl.executor import Executor
from gpu_renderer.backends.gl.picture import GpuPicture
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.source import ContentSource
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import RenderGraph
from gpu_renderer.encode.planes import Underlay
from gpu_renderer.frame import opaque_base
from gpu_renderer.frame.static_prefix import StaticRun
from gpu_renderer.frame.video_passthrough import Shown, UnderFootage, surroundings
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Area
from gpu_renderer.geometry.region import Parts, Region, pixels, shared, without
from gpu_renderer.host.kernels import kernels
from gpu_renderer.host.loops import Coats, Ground
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Format, Target
from gpu_renderer.optimisation import Levers
from motion.snapshot import Snapshot

Finished = GpuPicture | HostPicture


@dataclass(slots=True)
class _Last:
    """The frame drawn last."""

    snapshot: Snapshot
    graph: RenderGraph
    scene: Target
    picture: Finished
    base: _Base | None
    over_footage: bool
    is_whole: bool
    """Whether the scene holds every pixel, and not only those that are drawn over footage."""


class _Base(NamedTuple):
    """Footage that fills the frame beneath all layers."""

    shown: DecodedFrame
    stretched_by: Filter | None
    """How it is brought to the frame's size; None where it has that, and its own samples are the frame's."""


class FrameRenderer:
    """Draws snapshots of one size after another; one per context and thread."""

    def __init__(self, painter: Painter, contents: ContentSource, levers: Levers | None = None) -> None:
        self._painter = painter
        self._contents = contents
        self._levers = levers or Levers()
        self._executor = Executor(painter, contents, self._levers)
        self._run = StaticRun(painter)
        self._under = UnderFootage(painter, self._executor.inks)
        self._still = StillLayers(painter, self._executor.inks)
        self._last: _Last | None = None
        self._kernels = kernels() if self._levers.finish_on_processor and painter.is_software else None
        self._filters = None if self._kernels is None else Filters(painter, self._kernels)
        self._compositor = None if self._kernels is None else Compositor(painter, self._executor, self._kernels)
        self.changed = damage.nothing(Region(0, 0, 1, 1))
        """The pixels of the picture that the last `draw` may have changed."""
        self.is_repeat = False
        """Whether the last `draw` was given the snapshot of the one before it."""
        self.underlay: Underlay | None = None
        """The video whose own samples are the last frame's, and what is drawn over it."""

    @property
    def finishes_on_processor(self) -> bool:
        """Whether pictures are HostPictures."""
        return self._kernels is not None

    @property
    def kept_count(self) -> int:
        """How many targets of the pool stay on loan between frames: the picture, its scene and what is kept."""
        frame_count = 0 if self._last is None else 1 + self._last.picture.target_count
        return self._executor.kept_count + self._run.kept_count + self._under.kept_count + frame_count

    def draw(self, snapshot: Snapshot, width: int, height: int, *, over_footage: bool = False) -> Finished:
        """The picture. It belongs to the renderer until the next call.

        `over_footage`: where the lowest layer is a video that fills the frame pixel for pixel, its samples are given as
        `underlay`, and the picture may be undefined beyond the pixels that are drawn over it.
        """
        last = self._last
        frame = Region(0, 0, width, height)
        if last is not None and (last.picture.region != frame or last.scene.format != _format(snapshot)):
            self._forget()
            last = None
        is_same = last is not None and (last.snapshot, last.over_footage) == (snapshot, over_footage)
        self.is_repeat = is_same
        if last is not None and is_same and self._levers.reuse_frames:
            self.changed = damage.nothing(frame)
            return last.picture
        graph = compiled(self._contents.with_character_planes(snapshot), width, height)
        return self._drawn(snapshot, graph, last, frame, over_footage=over_footage)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the snapshots drawn so far asked for and was drawn otherwise or not at all: a line each, once."""
        return tuple(self._executor.warnings)

    def release(self) -> None:
        """Gives back every target and frees what is kept."""
        self._forget()
        self._executor.release()

    def _drawn(
        self, snapshot: Snapshot, graph: RenderGraph, last: _Last | None, frame: Region, *, over_footage: bool
    ) -> Finished:
        inks = self._executor.inks
        base = self._base(snapshot, graph) if over_footage else None
        if base is not None:
            self._under.stand_in(graph)
            bounds.of_step(
                graph.steps[0], graph.scene, inks
            )  # remembered for the next frame, when the video has moved on
        if last is not None and base is not None and self._is_still(last, graph, base):
            self._executor.end_frame()
            self._last, self.changed = replace(last, snapshot=snapshot, graph=graph), damage.nothing(frame)
            return last.picture
        changed = damage.whole(frame)
        if last is not None and (last.base is None) == (base is None) and self._may_keep(last, snapshot):
            changed = bounds.changed(last.graph, graph, inks, self._run.settled_count(graph))
        scene = last.scene if last else self._painter.pool.take(frame, _format(snapshot), clear=False)
        picture = last.picture if last else self._blank(frame)
        is_whole, self.underlay = True, None
        if base is not None:
            is_whole = self._over_footage(graph, scene, picture, base, changed, last)
        elif not changed.is_empty:
            self._picture(graph, scene, picture, changed.parts(), last)
        self._executor.end_frame()
        self._last, self.changed = _Last(snapshot, graph, scene, picture, base, over_footage, is_whole), changed
        return picture

    def _base(self, snapshot: Snapshot, graph: RenderGraph) -> _Base | None:
        """The footage beneath all layers, if its own samples can be encoded, or a loop can bring it to the frame's size."""
        found = opaque_base.covering_footage(graph, self._contents, self._executor.inks)
        if found is None or found.is_own_size:
            return None if found is None else _Base(found.shown, None)
        is_wanted = self._levers.resample_footage and self._levers.copy_opaque and _format(snapshot) == "f2"
        if self._filters is None or not is_wanted:
            return None
        by = self._filters.find(Stretch(found.shown.upright_size, found.quad, found.crop, graph.scene.frame))
        return None if by is None else _Base(found.shown, by)

    def _is_still(self, last: _Last, graph: RenderGraph, base: _Base) -> bool:
        """Whether a video of fewer frames shows the one before again, with nothing changed above it."""
        is_same_video = last.base == base and last.over_footage
        is_same_place = (graph.ground, graph.references) == (last.graph.ground, last.graph.references)
        return self._levers.reuse_frames and is_same_video and is_same_place and graph.steps[1:] == last.graph.steps[1:]

    def _may_keep(self, last: _Last, snapshot: Snapshot) -> bool:
        return self._levers.redraw_changes_only and last.graph.scene.color == snapshot.color

    def _over_footage(
        self, graph: RenderGraph, scene: Target, picture: Finished, base: _Base, changed: Area, last: _Last | None
    ) -> bool:
        """Draws what shows above footage, and tells whether the whole scene was drawn with it."""
        above = opaque_base.layers_above(graph, self._executor.inks)
        parts = surroundings(scene.region, above)
        coats = self._coats(graph, scene, picture, parts)
        is_apart = pixels(parts) <= opaque_base.COVERED_SHARE_MAX * pixels((scene.region,))
        if base.stretched_by is None:
            self.underlay = Underlay(base.shown.samples, above)
        if coats is None and not (self._levers.copy_opaque and is_apart):
            self._under.step_back(graph)
            was_whole = last is not None and last.is_whole
            self._picture(graph, scene, picture, changed.parts() if was_whole else (scene.region,), last)
            return True
        pixels_of: Shown = base.shown.pixels_of
        if base.stretched_by is not None:
            assert isinstance(picture, HostPicture), "only what is finished by loops is stretched by one"
            pixels_of = picture.stretch(base.shown, base.stretched_by)
        if coats is not None:
            assert isinstance(picture, HostPicture), "only what is finished by loops is laid by one"
            linear, in_place = linear_codes(self._painter), self._levers.read_in_place
            for part in parts:
                ground = Ground(footage=pixels_of(part), linear=linear)
                picture.lay(ground, coats, part, graph.scene.color, in_place=in_place)
        elif parts:
            self._under.show(graph, pixels_of, parts)
            bare = replace(graph, background=None, background_paint=None)
            self._encode(graph, scene, picture, parts, self._executor.draw_owing(bare, scene, parts))
        return False

    def _coats(self, graph: RenderGraph, scene: Target, picture: Finished, parts: Parts) -> Coats | None:
        """What is above footage, to be laid over it; None where layers are to be drawn."""
        if not (parts and isinstance(picture, HostPicture) and scene.format == "f2"):
            return None
        still = self._still.find(graph, parts, self._executor.draw_passes) if self._levers.keep_still_layers else None
        split = self._split(graph, scene, parts, 1) if still is None else None
        return split.coats if split is not None and split.drawn_count == 1 else still

    def _split(self, graph: RenderGraph, scene: Target, parts: Parts, first: int = 0) -> Split | None:
        is_wanted = self._compositor is not None and self._levers.lay_on_processor
        return self._compositor.split(graph, scene, parts, first) if self._compositor and is_wanted else None

    def _picture(self, graph: RenderGraph, scene: Target, picture: Finished, parts: Parts, last: _Last | None) -> None:
        """Brings parts of the picture up to date: with the layers on top laid, as far down as they can be."""
        split = self._split(graph, scene, parts)
        if split is not None and isinstance(picture, HostPicture) and self._compositor is not None:
            self._lay(self._compositor, graph, split, scene, picture, parts)
            return
        if last is not None:
            self._watch(graph, last.graph, scene)
        self._draw(graph, scene, picture, parts)

    def _lay(
        self,
        compositor: Compositor,
        graph: RenderGraph,
        split: Split,
        scene: Target,
        picture: HostPicture,
        parts: Parts,
    ) -> None:
        """Draws what of the layers below has changed since it was drawn last, and lays the others over all below them."""
        below = (
            graph if split.drawn_count == len(graph.steps) else replace(graph, steps=graph.steps[: split.drawn_count])
        )
        if not compositor.is_plain(below):
            drawn, stale = compositor.drawn, damage.whole(scene.region)
            if drawn is not None:
                self._watch(below, drawn, scene)
                stale = bounds.changed(drawn, below, self._executor.inks, self._run.settled_count(below))
            if not stale.is_empty:
                owed = self._composite(below, scene, stale.parts())
                blend.coarsen(self._painter, scene, owed, in_place=self._levers.read_in_place)
                compositor.read(below, scene, stale.parts())
        clip = graph.scene.clip
        picture.blank(without(parts, (clip,)))
        for part in shared(parts, clip):
            ground = compositor.ground(below, part)
            picture.lay(ground, split.coats, part, graph.scene.color, in_place=self._levers.read_in_place)

    def _watch(self, graph: RenderGraph, last: RenderGraph, scene: Target) -> None:
        if self._levers.keep_static_run and graph != last:
            self._run.watch(graph, last, scene, self._executor.draw)

    def _draw(self, graph: RenderGraph, scene: Target, picture: Finished, parts: Parts) -> None:
        """Brings parts of the picture up to date; where only an opaque picture shows, by copying it."""
        inks = self._executor.inks
        texture = opaque_base.covering_picture(graph, inks) if self._levers.copy_opaque else None
        touched = opaque_base.touched(graph, inks, parts) if texture is not None else None
        if texture is not None and touched is not None:
            picture.copy(texture, parts)
        drawn = parts if touched is None else touched
        self._encode(graph, scene, picture, drawn, self._composite(graph, scene, drawn))

    def _encode(self, graph: RenderGraph, scene: Target, picture: Finished, parts: Parts, coarse: Parts) -> None:
        in_place = self._levers.read_in_place
        is_opaque = blend.is_opaque(graph, scene.region)
        picture.encode(scene, graph.scene.color, parts, in_place=in_place, is_opaque=is_opaque, coarse=coarse)

    def _blank(self, frame: Region) -> Finished:
        return (
            GpuPicture(self._painter, frame)
            if self._kernels is None
            else HostPicture(self._painter, self._kernels, frame)
        )

    def _composite(self, graph: RenderGraph, scene: Target, parts: Parts) -> Parts:
        rest = self._run.restore(graph, scene, parts)
        if rest is graph and not background.fills(graph, scene.region):
            self._painter.erase(scene, parts)
        return self._executor.draw_owing(rest, scene, parts)

    def _forget(self) -> None:
        if self._last is not None:
            self._painter.pool.give_back(self._last.scene)
            self._last.picture.release()
        self._last = None
        self._run.forget()
        self._under.forget()
        self._still.forget()
        if self._compositor is not None:
            self._compositor.forget()


def _format(snapshot: Snapshot) -> Format:
    return "f4" if snapshot.color.bit_depth == 32 else "f2"
