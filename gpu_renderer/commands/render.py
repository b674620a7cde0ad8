"""Render a document on this machine, without a farm.

The extension of OUT selects the format: .mp4 (H.264, or --format mp4-h265, mp4-av1), .webm (VP9), .mov (ProRes 4444), .gif, .webp
(animated), .zip (a sequence of PNGs, or --format jpg-sequence), .png or .jpg (the first frame); a folder gets a numbered
sequence. A picture or video given with --set may be an address or a file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gpu_renderer.commands import options
from gpu_renderer.commands.local_files import format_of, write
from gpu_renderer.commands.local_job import PRESETS, LocalJob
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.errors import RenderError
from gpu_renderer.session import RenderSession
from motion.timing import round_half_up

WATCH_SECONDS = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the document, its inputs and the output."""
    add = parser.add_argument
    options.add_document_arguments(parser)
    options.add_font_argument(parser, "installed")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--frames", metavar="A:B", type=options.frames, default=(None, None), help="frames A up to B")
    part.add_argument("--range", metavar="A:B", type=options.time_range, help="seconds A up to B")
    add("--scale", metavar="S", type=options.scale, help="factor of the composition's size")
    presets = "; ".join(f"{name}: {preset.help}" for name, preset in PRESETS.items())
    add("--preset", choices=list(PRESETS), default="high", metavar="NAME", help=presets)
    add("--draft", action="store_true", help="half size, fewer samples of motion blur, small files")
    add("--format", choices=list(FORMATS), help="the format, where an ending has several")
    add("--transparent", action="store_true", help="leave the background out (.webm .mov .gif .webp .png)")
    add("--workers", metavar="N", type=options.count, default=1, help="processes that draw (default: 1)")
    add("--watch", action="store_true", help="render again each time the document changes, until Ctrl-C")
    add(
        "--audio",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="render the sound (default: if there is any)",
    )
    add("-o", "--output", metavar="OUT", type=Path, required=True, help="a file or a folder")


def run(arguments: argparse.Namespace) -> int:
    """Render the document. Return 1 with a message if it fails."""

    def render() -> None:
        job = job_of(arguments)
        with RenderSession(job.session_options) as session:
            if arguments.watch:
                _print_means(job, session)
                _watch(job, session, arguments)
            else:
                _render(job, session, arguments)

    return options.status_of("render", arguments.file, render)


def job_of(arguments: argparse.Namespace) -> LocalJob:
    """Return the job for the arguments. Raises RenderError for contradictory options."""
    preset = PRESETS[arguments.preset]
    if arguments.draft:
        preset = replace(preset, quality="draft", scale=min(preset.scale, 0.5), is_draft=True)
    name = format_of(arguments.output, arguments.format or preset.format)
    is_transparent = arguments.transparent or preset.is_transparent
    if is_transparent and not FORMATS[name].has_alpha:
        raise RenderError(f"{arguments.output}: the format {name} has no transparency")
    return LocalJob(
        file=arguments.file, format_name=name, inputs=tuple(dict(arguments.set).items()),
        output=options.output_of(arguments, is_transparent=is_transparent), media=arguments.media, fonts=arguments.fonts,
        preset=replace(preset, scale=arguments.scale or preset.scale), machine=arguments.machine(),
    )  # fmt: skip


def _print_means(job: LocalJob, session: RenderSession) -> None:
    """Print the renderer and the encoder in use."""
    named = job.format.codec or job.format.picture
    encoder = f"writes {job.format_name}" if named else f"encodes with {session.profile.codec}"
    print(f"draws with {session.identity.gpu.renderer}, {encoder}", file=sys.stderr)


def _watch(job: LocalJob, session: RenderSession, arguments: argparse.Namespace) -> None:
    """Render now and after each change. Report a render that fails and continue watching."""
    paths = tuple(path for path in (job.file, job.media) if path is not None)
    with suppress(KeyboardInterrupt):
        for _ in _changes(paths):
            options.status_of("render", job.file, lambda: _render(job, session, arguments))


def _changes(paths: tuple[Path, ...]) -> Iterator[None]:
    """Yield once at the start, and each time the files have changed and are stable again."""
    seen = _state(paths)
    yield
    while True:
        time.sleep(WATCH_SECONDS)
        found = _state(paths)
        if found == seen or not found:
            continue
        while (later := _state(paths)) != found or not later:
            found = later
            time.sleep(WATCH_SECONDS)
        seen = found
        yield


def _state(paths: tuple[Path, ...]) -> list[tuple[Path, int, int]]:
    """Return path, modification time and size of every file at or below the paths. Skip missing paths."""
    found = []
    for path in paths:
        for file in filter(Path.is_file, sorted(path.rglob("*")) if path.is_dir() else [path]):
            with suppress(OSError):
                found.append((file, file.stat().st_mtime_ns, file.stat().st_size))
    return found


def _render(job: LocalJob, session: RenderSession, arguments: argparse.Namespace) -> None:
    began = time.perf_counter()
    opened_job = job.open(session)
    with opened_job.opened as opened:
        frames = _frames(arguments, opened.frame_count, opened.fps)
        if not arguments.watch:  # printed once already
            _print_means(job, session)
        count, warnings = write(
            session, opened_job, frames, arguments.output, arguments.workers, has_sound=arguments.audio
        )
    seconds = time.perf_counter() - began
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    made = f"{opened.width}x{opened.height}, {count} frame{'s' * (count != 1)}"
    print(f"{arguments.output}: {made} in {seconds:.2f} s ({count / seconds:.1f} fps)", flush=True)


def _frames(arguments: argparse.Namespace, frame_count: int, fps: float) -> range:
    first, end = arguments.frames
    if arguments.range is not None:
        first, end = (None if second is None else round_half_up(second * fps) for second in arguments.range)
    frames = range(frame_count)[first:end]
    if not frames:
        raise RenderError(f"there are no such frames: the composition has frames 0 to {frame_count - 1}")
    return frames
