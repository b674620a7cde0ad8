"""Render segments with the real renderer. A process has one renderer, which owns the GL context."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, cast

import orjson

from cluster.worker.egl_devices import device_index
from cluster.worker.media_cache import MediaCache
from cluster.worker.segment_maker_port import StillPicture
from cluster.worker.task_runner import TaskRunner
from farm_core.settings import Settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links
from farm_core.telemetry import logs
from gpu_renderer.content.text.folders import FontFolders, fonts_folder
from gpu_renderer.encode.formats import named
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.pipeline import PipelineOptions, until_stopped
from gpu_renderer.progress import Callbacks, ShouldStop
from gpu_renderer.session import OpenDocument, Output, RenderSession, SessionOptions
from gpu_renderer.warm_up import warm_up
from motion.stored import Document
from scheduler.ports import SegmentAssignment, StillAssignment, VideoFormat

_log = logs.logger(__name__)
OPENED_MAX: Final = 4
"""Open documents to cache: a worker mostly gets segments of the same few jobs."""
SOUND_BYTES_MAX: Final = 2_000_000_000
"""Space on disk of sound that the pictures of idle open documents show. A document can have 2.8 GB."""


class _DocumentKey(NamedTuple):
    """Key of an open document. `media` is the assignment's sorted pairs of source and storage key."""

    document_key: str
    video_format: VideoFormat
    media: tuple[tuple[str, str], ...]


class SessionSegmentMaker:
    """`SegmentMaker` with a render session and its open documents."""

    def __init__(self, settings: Settings, cuda_index: int | None = None, raster_threads: int | None = None) -> None:
        self._session = RenderSession(
            SessionOptions(
                fonts=FontFolders(fonts_folder(), further=settings.further_fonts),
                device_index=device_index(cuda_index, software=settings.gl_software),
                raster_threads=raster_threads,
                encoder=EncoderProfile(codec=settings.encoder) if settings.encoder else None,
                pipeline=PipelineOptions(encode_from_gpu=settings.encode_from_gpu),
            )
        )
        self._opened: OrderedDict[_DocumentKey, OpenDocument] = OrderedDict()
        self._opened_stills: OrderedDict[_DocumentKey, OpenDocument] = OrderedDict()
        self._in_use: list[OpenDocument] = []
        identity = self._session.identity
        self.backend = identity.backend
        self.renderer = (
            f"{identity.gpu.renderer} | {self.backend} | {identity.encoder.identity} | {identity.digest[:16]}"
        )
        self.device = f"software: {identity.gpu.renderer}" if identity.gpu.is_software else identity.gpu.renderer
        self.encoder = identity.encoder.codec
        if not identity.gpu.is_software:
            _warm(self._session)

    def segment_key(self, assignment: SegmentAssignment, media: MediaCache, should_stop: ShouldStop) -> str:
        """Return a digest of the frames' keys and the encoder's settings.

        The frames' keys already include media that are named by content hash. Each of them evaluates a frame, which can take seconds.
        """
        indices = range(assignment.first_frame, assignment.first_frame + assignment.frame_count)
        with self._using(self._open(assignment, media)) as opened:
            frames = [opened.frame_key(index) for index in until_stopped(indices, should_stop)]
        loose = sorted((source, key) for source, key in assignment.media.items() if source != f"/files/{key}")
        video_format = assignment.video_format
        facts = [self.renderer, video_format.width, video_format.height, video_format.fps, loose, frames]
        if (video_format.format, video_format.transparent) != ("mp4", False):
            facts += [video_format.format, video_format.transparent]
        return hashlib.sha256(orjson.dumps(facts)).hexdigest()

    def render(
        self,
        assignment: SegmentAssignment,
        media: MediaCache,
        path: Path,
        callbacks: Callbacks,
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        """Draw and encode the segment."""
        with self._using(self._open(assignment, media)) as opened:
            report = self._session.render_segment(
                opened, assignment.first_frame, assignment.frame_count, path, callbacks
            )
        return dict(report.stage_ms), (*opened.warnings, *report.warnings)

    def still(self, assignment: StillAssignment, frame_index: int, media: MediaCache) -> StillPicture:
        """Draw one frame.

        Stills have separate open documents, so that a still can be drawn during a segment of the same document.
        """
        opened = self._open(assignment, media)
        return StillPicture(self._session.still(opened, frame_index), opened.warnings)

    def free_disk(self, media: MediaCache) -> None:
        """Close idle documents, and delete cached files that no other document needs."""
        for documents in (self._opened_stills, self._opened):
            for key in self._idle(documents):
                documents.pop(key).close()
        media.trim(self._media_in_use(), 0)

    @property
    def may_pause(self) -> bool:
        """Return False if frames stay on the GPU: their buffers exist once per session (`gpu_renderer/backends/gl/handover.py`)."""
        return not self._session.from_gpu.works

    def _open(self, assignment: SegmentAssignment | StillAssignment, media: MediaCache) -> OpenDocument:
        documents = self._opened if isinstance(assignment, SegmentAssignment) else self._opened_stills
        video_format = assignment.video_format
        key = _DocumentKey(assignment.document_key, video_format, tuple(sorted(assignment.media.items())))
        if key in documents:
            documents.move_to_end(key)
            return documents[key]
        document = cast(Document, orjson.loads(media.path(assignment.document_key).read_bytes()))
        output = Output(
            width=video_format.width,
            height=video_format.height,
            fps=video_format.fps,
            composition_id=video_format.composition_id,
            duration_seconds=video_format.duration_seconds,
            is_transparent=video_format.transparent,
            format=named(video_format.format),
            still_scale=video_format.still_scale,
        )
        self._close_surplus(documents)
        documents[key] = self._session.open(document, output, media.resolver(assignment.media))
        media.trim(self._media_in_use())
        return documents[key]

    @contextmanager
    def _using(self, opened: OpenDocument) -> Iterator[OpenDocument]:
        """Keep the document open during the block, which other segments can interrupt."""
        self._in_use.append(opened)
        try:
            yield opened
        finally:
            self._in_use.remove(opened)

    def _media_in_use(self) -> set[str]:
        return {stored for opened_key in (*self._opened, *self._opened_stills) for _, stored in opened_key.media}

    def _close_surplus(self, documents: OrderedDict[_DocumentKey, OpenDocument]) -> None:
        """Close documents to make room for one more, first the oldest. Documents of paused segments stay open."""
        for key in self._idle(documents)[: max(0, len(documents) - OPENED_MAX + 1)]:
            documents.pop(key).close()
        for kept in (self._opened_stills, self._opened):
            for key in self._idle(kept):
                sounds = (one.scratch_bytes for one in (*self._opened_stills.values(), *self._opened.values()))
                if sum(sounds) > SOUND_BYTES_MAX and kept[key].scratch_bytes:
                    kept.pop(key).close()

    def _idle(self, documents: OrderedDict[_DocumentKey, OpenDocument]) -> list[_DocumentKey]:
        return [key for key, opened in documents.items() if opened not in self._in_use]


def task_runner(
    worker_id: str, settings: Settings, scratch: Path, cuda_index: int | None = None, raster_threads: int | None = None
) -> TaskRunner:
    """Return a worker's runner. The calling thread owns the GL context and must execute all assignments."""
    storage = storage_of(settings, Links(b""))  # workers sign no links, so they need no secret
    return TaskRunner(worker_id, SessionSegmentMaker(settings, cuda_index, raster_threads), storage, scratch)


def _warm(session: RenderSession) -> None:
    """Compile the shaders that most documents need before the worker is ready."""
    try:
        _log.info("renderer is warm", seconds=round(warm_up(session), 3))
    except Exception as error:
        # Warming up only saves time. A worker whose driver fails here still takes jobs, and the first failing job reports why.
        _log.warning("renderer could not be warmed up", error=f"{type(error).__name__}: {error}")
