"""Render a document locally, without any service.

The ending of OUT says what is made: `.mp4` a video, `.png` one frame (the first of --frames), anything else a folder of
numbered PNGs. A picture or video given with --set may be an address or a file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, read_local, with_inputs
from gpu_renderer.encode.assemble import assemble
from gpu_renderer.encode.check import check
from gpu_renderer.errors import RenderError
from gpu_renderer.session import Opened, RenderSession
from motion.errors import DocumentError

Step = Callable[[int], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The document, its inputs, the output."""
    options.add_document_arguments(parser)
    options.add_font_argument(parser, "installed")
    parser.add_argument("--frames", metavar="A:B", type=options.frames, default=(None, None), help="frames A up to B")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help=".mp4, .png or a folder")


def run(arguments: argparse.Namespace) -> int:
    """Renders; 1 with a message where it cannot be done."""
    try:
        _render(arguments)
    except DocumentError as error:
        return _refused(f"{arguments.file}: {error.message}")
    except (RenderError, OSError) as error:
        return _refused(str(error))
    return 0


def _render(arguments: argparse.Namespace) -> None:
    _check_kind(arguments.output)
    media = LocalMedia(arguments.media)
    document = with_inputs(read_local(arguments.file), dict(arguments.set), media, arguments.comp)
    with RenderSession(options.default_session_options(arguments.machine(), arguments.fonts)) as session:
        print(f"draws with {session.identity.gpu.renderer}, encodes with {session.profile.codec}", file=sys.stderr)
        with session.open(document, options.output_of(arguments), media.resolve) as opened:
            frames = _frames(arguments.frames, opened.frame_count)
            if _kind(arguments.output) == ".png":
                frames = frames[:1]
            started = time.perf_counter()
            _write(session, opened, frames, arguments.output)
            _report(opened, len(frames), time.perf_counter() - started, arguments.output)


def _frames(asked: tuple[int | None, int | None], frame_count: int) -> range:
    first, end = asked
    frames = range(frame_count)[first:end]
    if not frames:
        raise RenderError(f"there are no such frames: the composition has frames 0 to {frame_count - 1}")
    return frames


def _write(session: RenderSession, opened: Opened, frames: range, output: Path) -> None:
    kind = _kind(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    if kind in (".png", ".mp4") and output.is_dir():
        raise IsADirectoryError(f"{output} is a folder")
    if kind == ".png":
        _save(session.still(opened, frames[0]), output)
        return
    with _progress(len(frames)) as step:
        if kind == ".mp4":
            _write_video(session, opened, frames, output, step)
        else:
            _write_pictures(session, opened, frames, output, step)


def _check_kind(output: Path) -> None:
    """Raises RenderError for an ending that is none of the formats, before anything is drawn or made."""
    if _kind(output) not in (".mp4", ".png", "") and not output.is_dir():
        raise RenderError(
            f"{output}: {_kind(output)} is not a format of this command; use .mp4, .png, or a folder for PNGs"
        )


def _kind(output: Path) -> str:
    return output.suffix.lower()


def _write_video(session: RenderSession, opened: Opened, frames: range, output: Path, step: Step) -> None:
    with tempfile.TemporaryDirectory(prefix=".render-", dir=output.parent) as folder:
        segment, finished = Path(folder) / "segment.mp4", Path(folder) / "finished.mp4"
        session.render_segment(opened, frames.start, len(frames), segment, step)
        assemble([segment], finished, opened.fps)
        check(finished, frame_count=len(frames), width=opened.width, height=opened.height, fps=opened.fps)
        finished.replace(output)


def _write_pictures(session: RenderSession, opened: Opened, frames: range, folder: Path, step: Step) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for count, index in enumerate(frames, start=1):
        _save(session.still(opened, index), folder / f"{index:05d}.png")
        step(count)


def _save(pixels: npt.NDArray[np.uint8], path: Path) -> None:
    Image.fromarray(pixels[..., :3]).save(path)


@contextmanager
def _progress(frame_count: int) -> Iterator[Step]:
    columns = (BarColumn(), TextColumn("{task.completed}/{task.total} frames"), _Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=frame_count)
        yield lambda done: progress.update(task, completed=done)


class _Speed(ProgressColumn):
    """Frames per second so far."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f} fps" if task.speed else "", style="progress.data.speed")


def _report(opened: Opened, frame_count: int, seconds: float, output: Path) -> None:
    for warning in opened.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(
        f"{output}: {opened.width}x{opened.height}, {frame_count} frame{'s' * (frame_count != 1)} in {seconds:.2f} s"
        f" ({frame_count / seconds:.1f} fps)"
    )


def _refused(message: str) -> int:
    print(f"render: {message}", file=sys.stderr)
    return 1
