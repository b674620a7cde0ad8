"""Render a document locally, without any service.

The ending of OUT says what is made: .mp4 (H.264, or --format mp4-h265, mp4-av1), .webm (VP9), .mov (ProRes 4444), .gif, .webp
(animated), .zip (a sequence of PNGs, or --format jpg-sequence), .png or .jpg (the first of the frames); a folder gets a numbered
sequence. A picture or video given with --set may be an address or a file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gpu_renderer.commands import options, watching
from gpu_renderer.commands.local_files import Written, format_of, write
from gpu_renderer.commands.local_job import LocalJob
from gpu_renderer.commands.presets import PRESETS, Preset, drafting
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.errors import RenderError
from gpu_renderer.session import RenderSession
from motion.errors import DocumentError
from motion.timing import round_half_up


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the document, its inputs and the output."""
    options.add_document_arguments(parser)
    options.add_font_argument(parser, "installed")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--frames", metavar="A:B", type=options.frames, default=(None, None), help="frames A up to B")
    part.add_argument("--range", metavar="A:B", type=options.time_range, help="seconds A up to B")
    parser.add_argument("--scale", metavar="S", type=options.scale, help="size of the output by the composition's own")
    presets = "; ".join(f"{name}: {held.help}" for name, held in PRESETS.items())
    parser.add_argument("--preset", choices=list(PRESETS), default="high", metavar="NAME", help=presets)
    parser.add_argument("--draft", action="store_true", help="half size, fewer samples of motion blur, small files")
    parser.add_argument("--format", choices=list(FORMATS), help="the format, where an ending has several")
    parser.add_argument(
        "--transparent", action="store_true", help="leave the background out (.webm .mov .gif .webp .png)"
    )
    parser.add_argument(
        "--workers", metavar="N", type=options.count, default=1, help="processes that draw (default: 1)"
    )
    parser.add_argument(
        "--watch", action="store_true", help="render again each time the document changes, until Ctrl-C"
    )
    parser.add_argument(
        "--audio",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="render the sound (default: if there is any)",
    )
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="a file or a folder")


def run(arguments: argparse.Namespace) -> int:
    """Render; 1 with a message where it cannot be done."""
    try:
        job = job_of(arguments)
        with RenderSession(job.session_options) as session:
            print(f"draws with {session.identity.gpu.renderer}, {_encoder(session, job)}", file=sys.stderr)
            if arguments.watch:
                return _watch(job, session, arguments)
            return _reported(arguments, lambda: _render(job, session, arguments))
    except (RenderError, OSError) as error:
        return _refused(str(error))


def job_of(arguments: argparse.Namespace) -> LocalJob:
    """Return the job that the arguments ask for. Raises RenderError for what contradicts."""
    preset: Preset = PRESETS[arguments.preset]
    if arguments.draft:
        preset = drafting(preset)
    name = format_of(arguments.output, arguments.format or preset.format)
    is_transparent = arguments.transparent or preset.is_transparent
    if is_transparent and not (FORMATS[name].has_alpha):
        raise RenderError(f"{arguments.output}: the format {name} has no transparency")
    width, height = arguments.size
    return LocalJob(
        file=arguments.file, format_name=name, inputs=tuple(dict(arguments.set).items()), composition_id=arguments.comp,
        width=width, height=height, fps=arguments.fps, fps_max=preset.fps_max, scale=arguments.scale or preset.scale,
        media=arguments.media, fonts=arguments.fonts, quality=preset.quality, is_transparent=is_transparent,
        is_draft=preset.is_draft, machine=arguments.machine(),
    )  # fmt: skip


def _watch(job: LocalJob, session: RenderSession, arguments: argparse.Namespace) -> int:
    """Render at once and after each change. A document that cannot be rendered is reported, and watched on."""
    paths = tuple(path for path in (job.file, job.media) if path is not None)
    seen = watching.state_of(paths)
    try:
        _reported(arguments, lambda: _render(job, session, arguments))
        for _ in watching.changes(paths, seen):
            _reported(arguments, lambda: _render(job, session, arguments))
    except KeyboardInterrupt:
        pass
    return 0


def _reported(arguments: argparse.Namespace, act: Callable[[], None]) -> int:
    try:
        act()
    except DocumentError as error:
        return _refused(f"{arguments.file}: {error.message}")
    except (RenderError, OSError) as error:
        return _refused(str(error))
    return 0


def _render(job: LocalJob, session: RenderSession, arguments: argparse.Namespace) -> None:
    began = time.perf_counter()
    held = job.open(session)
    with held.opened as opened:
        frames = _frames(arguments, opened.frame_count, opened.fps)
        written = write(session, held, frames, arguments.output, arguments.workers, has_sound=arguments.audio)
    _report(written, time.perf_counter() - began, arguments.output)


def _frames(arguments: argparse.Namespace, frame_count: int, fps: float) -> range:
    first, end = arguments.frames
    if arguments.range is not None:
        first, end = (None if second is None else round_half_up(second * fps) for second in arguments.range)
    frames = range(frame_count)[first:end]
    if not frames:
        raise RenderError(f"there are no such frames: the composition has frames 0 to {frame_count - 1}")
    return frames


def _encoder(session: RenderSession, job: LocalJob) -> str:
    if job.format.codec is None and job.format.picture is None:
        return f"encodes with {session.profile.codec}"
    return f"writes {job.format_name}"


def _report(written: Written, seconds: float, output: Path) -> None:
    for warning in written.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    count = written.frame_count
    print(
        f"{output}: {written.width}x{written.height}, {count} frame{'s' * (count != 1)} in {seconds:.2f} s"
        f" ({count / seconds:.1f} fps)",
        flush=True,
    )


def _refused(message: str) -> int:
    print(f"render: {message}", file=sys.stderr, flush=True)
    return 1
