"""A render on this machine as plain data, so that other processes can work on parts of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, read_local, with_inputs
from gpu_renderer.commands.options import Machine
from gpu_renderer.commands.presets import drafted, scaled
from gpu_renderer.encode.formats import FORMATS, FileFormat, Quality
from gpu_renderer.pipeline import SegmentReport
from gpu_renderer.session import Opened, Output, RenderSession, SessionOptions
from motion.schema.compositions import chosen
from motion.schema.stored import Document


@dataclass(frozen=True, slots=True)
class LocalJob:
    """A local render. `width` and `height` None: the composition's own, times `scale`."""

    file: Path
    format_name: str
    inputs: tuple[tuple[str, str], ...] = ()
    composition_id: str | None = None
    width: int | None = None
    height: int | None = None
    fps: float | None = None
    fps_max: float | None = None
    scale: float = 1.0
    media: Path | None = None
    fonts: str = "installed"
    quality: Quality = "high"
    is_transparent: bool = False
    is_draft: bool = False
    machine: Machine = field(default_factory=Machine)

    @property
    def format(self) -> FileFormat:
        """Format of the finished file."""
        return FORMATS[self.format_name]

    @property
    def session_options(self) -> SessionOptions:
        """Return the options of the job's sessions."""
        return options.default_session_options(self.machine, self.fonts)

    def open(self, session: RenderSession) -> OpenedJob:
        """Read the file and open it in a session. Raises DocumentError."""
        media = LocalMedia(self.media)
        document = with_inputs(read_local(self.file), dict(self.inputs), media, self.composition_id)
        if self.is_draft:
            document = drafted(document)
        return OpenedJob(self, document, media, session.open(document, self._output(document), media.resolve))

    def render(
        self, session: RenderSession, opened: Opened, frames: range, path: Path, on_progress: options.Step
    ) -> SegmentReport:
        """Render frames into a segment of the job's format."""
        return session.render_segment(opened, frames.start, len(frames), path, on_progress)

    def _output(self, document: Document) -> Output:
        settings = chosen(document, self.composition_id)
        limits = [rate for rate in (self.fps_max, self.format.fps_max) if rate is not None]
        return Output(
            width=self.width or scaled(settings.width, self.scale),
            height=self.height or scaled(settings.height, self.scale),
            fps=min([self.fps or settings.fps, *limits]),
            composition_id=self.composition_id,
            is_transparent=self.is_transparent,
            format=self.format,
            quality=self.quality,
        )


@dataclass(frozen=True, slots=True)
class OpenedJob:
    """A job's document, opened in a session. Close `opened` when done."""

    job: LocalJob
    document: Document
    media: LocalMedia
    opened: Opened
