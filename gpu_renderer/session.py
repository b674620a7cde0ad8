"""Render session: a GL context with fonts, programs and an encoder, for many successive jobs.

    with RenderSession(SessionOptions(fonts=FontFolders(Path(".fonts")))) as session:
        with session.open(document, Output(), resolve_media) as opened:
            session.render_segment(opened, 0, opened.frame_count, Path("segment.mp4"))

A session belongs to the thread that created it.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from av import FFmpegError

from gpu_renderer import memory
from gpu_renderer.backends.compositor import BackendName, RenderedFrame
from gpu_renderer.backends.gl.handover import Handover, InteropFailed
from gpu_renderer.content.contents import Contents
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.content.text import folders
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.formats import FORMATS, FileFormat, Quality
from gpu_renderer.encode.profile import EncoderProfile, chosen
from gpu_renderer.encode.segments import open_segment
from gpu_renderer.frame.renderer import FrameRenderer, Optimisations, backend_of
from gpu_renderer.handover_probe import Obstacle, Verdict, probed
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.context import GpuIdentity, create_context, identity
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import IDLE_FRAMES_MAX
from gpu_renderer.pipeline import (
    PipelineOptions,
    SegmentPipeline,
    SegmentReport,
    write_pictures,
)
from gpu_renderer.progress import NO_CALLBACKS, Callbacks
from gpu_renderer.sound import AnalysedSounds, ResolveMedia
from motion import build, snapshot_key, timing
from motion.evaluate import snapshot as snapshot_at
from motion.model.composition import Composition
from motion.model.parity import REFERENCE, Parity
from motion.notices import bounded
from motion.snapshot import Snapshot
from motion.stored import Document

log = logging.getLogger(__name__)
SOURCE_SHOWN_MAX = 80
"""Maximum characters of a source in a warning."""
BUILD = "46"
"""Build of the renderer. Increase it whenever the pixels of a document, or the bytes of its segments, can change."""

H264: Final = FORMATS["mp4"]
FIRST_FRAMES: Final = IDLE_FRAMES_MAX + 2
"""Number of frames after which free memory is returned again. Resources of the first frame alone are idle by then."""
EVALUATED_MAX: Final = 64
"""Snapshots cached between computing a segment's digests and drawing it: two seconds at 30 frames per second."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Device, encoder and options of a session."""

    fonts: FontFolders
    device_index: int | None = None
    """Index of the EGL device. None selects the driver's first one."""
    raster_threads: int | None = None
    """Additional threads of software GL. None selects one per core. Pixels do not depend on the number."""
    encoder: EncoderProfile | None = None
    """Encoder settings. None selects the first codec that passes its probe."""
    parity: Parity = REFERENCE
    """Quirks of the reference that are matched."""
    drawing: Optimisations = field(default_factory=Optimisations)
    pipeline: PipelineOptions = field(default_factory=PipelineOptions)


@dataclass(frozen=True, slots=True)
class Output:
    """Requested output. None selects the composition's value."""

    width: int | None = None
    height: int | None = None
    fps: float | None = None
    composition_id: str | None = None
    duration_seconds: float | None = None
    is_transparent: bool = False
    """Omit the composition's background, for files with an alpha channel."""
    format: FileFormat = H264
    quality: Quality = "high"
    """Quality of formats other than H.264. The encoder profile sets H.264's quality."""
    still_scale: float = 1.0
    """Size of a still relative to its video. Lengths that the format measures in output px are multiplied by it."""


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """Everything besides the document that frames depend on. Equal identities give equal bytes."""

    gpu: GpuIdentity
    encoder: EncoderProfile
    fonts: str
    backend: BackendName = "gl"
    build: str = BUILD

    @property
    def digest(self) -> str:
        """Return a hex digest for cache keys."""
        gpu = self.gpu
        words = (gpu.vendor, gpu.renderer, gpu.version, self.backend, self.encoder.identity, self.fonts, self.build)
        return hashlib.sha256("\n".join(words).encode()).hexdigest()


class OpenDocument(AbstractContextManager["OpenDocument"]):
    """An open document with its media and caches. Close it when the job is done."""

    def __init__(
        self, session: RenderSession, composition: Composition, output: Output, resolve_media: ResolveMedia
    ) -> None:
        self.composition, self.output = composition, output
        self.width = output.width or round(composition.width)
        self.height = output.height or round(composition.height)
        self.fps = output.fps or composition.fps
        self.duration_seconds = output.duration_seconds or composition.duration_seconds
        self._session = session
        self._frames_drawn = 0
        self._evaluated: dict[int, Snapshot] = {}
        """Snapshots by frame, oldest first, which `frame_key` caches because most are drawn next."""
        fonts = session.fonts.for_job()
        self._media = MediaLibrary(resolve_media, fonts)
        name_source = partial(_name_of_source, composition)
        self._contents = Contents(fonts, self._media, name_source=name_source)
        self._sounds = AnalysedSounds(resolve_media, name_source)
        self._renderer = FrameRenderer(
            session.painter, self._contents, session.options.drawing, is_transparent=output.is_transparent,
            still_scale=output.still_scale,
        )  # fmt: skip
        self.backend = self._renderer.backend

    @property
    def frame_count(self) -> int:
        """Return the number of frames of the whole video."""
        return timing.frame_count(self.duration_seconds, self.fps)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each feature, known so far, that is drawn differently or not at all."""
        found = (
            *self.composition.warnings, *self._contents.warnings, *self._sounds.warnings, *self._renderer.warnings
        )  # fmt: skip
        return bounded(found)

    @property
    def scratch_bytes(self) -> int:
        """Return the space on disk of sound that the pictures show. It is freed when the document is closed."""
        return self._sounds.scratch_bytes

    def begin_run(self) -> None:
        """Begin a run of consecutive frames, which can start anywhere in the video."""
        self._media.begin_run()

    def evaluate(self, frame_index: int) -> Snapshot:
        """Return the snapshot of a frame."""
        if (kept := self._evaluated.pop(frame_index, None)) is not None:
            return kept
        time_seconds = timing.frame_time(frame_index, self.fps)
        return snapshot_at(self.composition, time_seconds, self.fps, self._contents.source_rect, self._sounds)

    def draw(self, snapshot: Snapshot) -> RenderedFrame:
        """Draw a frame for the pipeline. Its pixels are valid until the next call."""
        if self._frames_drawn == 1:  # before the encoder fills its queue
            self._session.painter.pool.release()
        if self._frames_drawn in (1, FIRST_FRAMES):
            self._session.painter.return_memory()
        self._frames_drawn += 1
        return self._renderer.draw(snapshot, self.width, self.height, passes_video=True)

    def draw_picture(self, snapshot: Snapshot) -> npt.NDArray[np.uint8]:
        """Draw a frame and return all pixels, shape (rows, columns, 4), valid until the next call."""
        return self._renderer.draw(snapshot, self.width, self.height).frame.read()

    def frame_key(self, frame_index: int) -> str:
        """Return a digest of the frame's picture in this session and output. Equal digests mean equal pictures."""
        snapshot = self.evaluate(frame_index)
        self._evaluated[frame_index] = snapshot
        if len(self._evaluated) > EVALUATED_MAX:
            del self._evaluated[next(iter(self._evaluated))]
        words = (snapshot_key.key(snapshot), str(self.width), str(self.height))
        return hashlib.sha256("/".join((*words, self._session.identity.digest)).encode()).hexdigest()

    def end_use(self) -> None:
        """Release large pictures while other documents are drawn."""
        self._contents.end_use()

    def close(self) -> None:
        """Free pictures and textures, close the media, and return their memory to the system.

        Also free the targets, because the next job can have another size.
        """
        self._session.make_current()
        if self._session.drawn_last is self:
            self._session.drawn_last = None
        self._renderer.release()
        self._session.painter.pool.release()
        self._media.close()
        self._contents.close()
        self._sounds.close()
        self._session.painter.return_memory()

    def __exit__(self, *_: object) -> None:
        self.close()


def _name_of_source(composition: Composition, source: str) -> str:
    """Return the layer name of a source for warnings, because a farm's media addresses mean nothing to users."""
    layer, shown = composition.layer_showing(source), source[:SOURCE_SHOWN_MAX]
    if layer is None:
        return shown
    return f"Layer “{layer.name}”" + ("" if source.startswith(("/files/", "data:")) else f" ({shown})")


class RenderSession(AbstractContextManager["RenderSession"]):
    """Owner of the process's GL context, and of the fonts, programs and encoder that its jobs share."""

    def __init__(self, options: SessionOptions) -> None:
        """Create the context. Raises GpuUnavailable, EncoderUnavailable, NoFonts."""
        memory.set_up()
        self.options = options
        self.profile = chosen(options.encoder)
        font_files = options.fonts.files()
        self.fonts = Fonts(font_files)
        self.painter = Painter(
            create_context(options.device_index, options.raster_threads), raster_threads=options.raster_threads
        )
        kernels()  # load the kernels now, so that no job's first frame waits for them
        self.identity = SessionIdentity(
            identity(self.painter.context), self.profile, folders.identity(font_files),
            backend_of(self.painter, options.drawing),
        )  # fmt: skip
        self.from_gpu, self._handover = probed(self.painter, self.profile, switch=options.pipeline.encode_from_gpu)
        """Verdict of the handover probe. After a failure it is negative for the rest of the session."""
        self.drawn_last: OpenDocument | None = None
        """The document that was drawn last."""

    def open(self, document: Document, output: Output, resolve_media: ResolveMedia) -> OpenDocument:
        """Build the composition and open it. Raises errors of `motion.errors` for documents that cannot be rendered."""
        return OpenDocument(
            self, build.build(document, output.composition_id, self.options.parity), output, resolve_media
        )

    def still(self, opened: OpenDocument, frame_index: int) -> npt.NDArray[np.uint8]:
        """Return one frame: uint8 RGBA of shape (height, width, 4), opaque, encoded sRGB."""
        self._turn_to(opened)
        opened.begin_run()
        return opened.draw_picture(opened.evaluate(frame_index)).copy()

    def render_segment(
        self,
        opened: OpenDocument,
        first_frame: int,
        frame_count: int,
        path: Path,
        callbacks: Callbacks = NO_CALLBACKS,
    ) -> SegmentReport:
        """Render frames [first, first + count) into a segment of the output's format, with a fresh encoder.

        `on_progress` of the callbacks receives the number of frames encoded. Raises RenderStopped soon after `should_stop` returns True.
        """
        self._turn_to(opened)
        frames, output = range(first_frame, first_frame + frame_count), opened.output
        if output.format == H264:
            report = self._h264(opened, frames, path, callbacks)
        else:
            opened.begin_run()
            size, keeps_alpha = (opened.width, opened.height), output.is_transparent and output.format.has_alpha
            segment = open_segment(
                path, output.format, size, opened.fps, keeps_alpha=keeps_alpha, quality=output.quality
            )
            snapshots = map(opened.evaluate, frames)
            report = write_pictures(snapshots, opened.draw_picture, segment, callbacks)
        return replace(report, warnings=opened.warnings)

    def _h264(self, opened: OpenDocument, frames: range, path: Path, callbacks: Callbacks) -> SegmentReport:
        def run(handover: Handover | None) -> SegmentReport:
            opened.begin_run()
            pipeline = SegmentPipeline(self.painter, opened, self.profile, self.options.pipeline, handover=handover)
            return pipeline.run(frames, path, callbacks)

        if self.from_gpu.works:
            try:
                return run(self._handover)
            except (InteropFailed, FFmpegError) as error:
                self.from_gpu = Verdict(Obstacle.REFUSED, str(error))
                log.warning("%s", self.from_gpu)
        return run(None)

    def _turn_to(self, opened: OpenDocument) -> None:
        self.make_current()
        if self.drawn_last is not None and self.drawn_last is not opened:
            self.drawn_last.end_use()
        self.drawn_last = opened

    def make_current(self) -> None:
        """Make this session's context current on the thread. Another session may have been used meanwhile."""
        self.painter.context.__enter__()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Free the context and its resources, except memory of a failed handover, which the encoder may still read."""
        self.make_current()
        if self._handover is not None and self.from_gpu.works:
            self._handover.close()
        self.painter.pool.release()
        self.painter.context.release()

    def __exit__(self, *_: object) -> None:
        self.close()
