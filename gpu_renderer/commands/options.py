"""Shared code of the drawing commands: options and their parsers, session options, and error reports."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gpu_renderer.content.text.folders import PACKS, REFERENCE_PACKS, FontFolders, fonts_folder
from gpu_renderer.encode.profile import Codec, EncoderProfile
from gpu_renderer.errors import RenderError
from gpu_renderer.pipeline import PipelineOptions
from gpu_renderer.session import Output, SessionOptions
from motion.errors import DocumentError

ROOT = Path(__file__).resolve().parents[2]
FONTS = fonts_folder()
FONT_PACKS = {"installed": PACKS, "reference": REFERENCE_PACKS}
SIDE_MAX_PX = 16384
SCALE_MAX = 8.0
WORKERS_MAX = 256

Bound = TypeVar("Bound", int, float)


@dataclass(frozen=True, slots=True)
class Machine:
    """Drawing and encoding settings of this machine, passed to commands by the composition root."""

    further_fonts: tuple[Path, ...] = ()
    device_index: int | None = None
    raster_threads: int | None = None
    codec: Codec | None = None
    encode_from_gpu: bool = True


def default_session_options(machine: Machine | None = None, fonts: str = "installed") -> SessionOptions:
    """Return session options of the machine's settings. Defaults: the farm's fonts, the first GPU, the first working encoder."""
    own = machine or Machine()
    return SessionOptions(
        fonts=FontFolders(FONTS, FONT_PACKS[fonts], own.further_fonts),
        device_index=own.device_index,
        raster_threads=own.raster_threads,
        encoder=EncoderProfile(codec=own.codec) if own.codec else None,
        pipeline=PipelineOptions(encode_from_gpu=own.encode_from_gpu),
    )


def status_of(command: str, file: Path, act: Callable[[], None]) -> int:
    """Run a command and return its exit status. Document errors name the file. Raises BrokenPipeError."""
    try:
        act()
    except BrokenPipeError:  # the reader closed the pipe, which is not an error of the command
        raise
    except DocumentError as error:
        message = f"{file}: {error.message}"
    except (RenderError, OSError) as error:
        message = str(error)
    else:
        return 0
    print(f"{command}: {message}", file=sys.stderr, flush=True)
    return 1


def add_font_argument(parser: argparse.ArgumentParser, default: str) -> None:
    """Add `--fonts`."""
    words = "families to draw with: all that are installed, or what the editor's own render worker has"
    parser.add_argument("--fonts", choices=sorted(FONT_PACKS), default=default, help=f"{words} (default: {default})")


def add_document_arguments(parser: argparse.ArgumentParser) -> None:
    """Add FILE, `--set`, `--comp`, `--size`, `--fps` and `--media`."""
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help="a .motion folder, zip or single file")
    add("--set", metavar="ID=VALUE", action="append", default=[], type=assignment, help="an input")
    add("--comp", metavar="ID", help="the composition (default: comp_root, else the document's first)")
    add("--size", metavar="WxH", type=size, default=(None, None), help="output size in pixels")
    add("--fps", metavar="N", type=rate, help="output frames per second")
    add("--media", metavar="DIR", type=folder, help="folder in which media files are found by name")


def output_of(arguments: argparse.Namespace, *, is_transparent: bool = False) -> Output:
    """Return the output settings of the arguments."""
    width, height = arguments.size
    return Output(width, height, arguments.fps, arguments.comp, is_transparent=is_transparent)


def assignment(word: str) -> tuple[str, str]:
    """Parse ID=VALUE."""
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{word!r} is not of the form ID=VALUE")
    return name, value


def size(word: str) -> tuple[int, int]:
    """Parse WxH, in pixels."""
    match = re.fullmatch(r"(\d+)[xX](\d+)", word)
    sides = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(1 <= side <= SIDE_MAX_PX for side in sides):
        raise argparse.ArgumentTypeError(f"{word!r} is not of the form WxH with sides of 1 to {SIDE_MAX_PX}")
    return sides


def folder(word: str) -> Path:
    """Parse the path of an existing folder."""
    path = Path(word)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {word}")
    return path


def count(word: str) -> int:
    """Parse a number of processes."""
    if not word.isdigit() or not 1 <= int(word) <= WORKERS_MAX:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1 to {WORKERS_MAX}")
    return int(word)


def _number(meaning: str, is_allowed: Callable[[float], bool]) -> Callable[[str], float]:
    def number(word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not is_allowed(value):
            raise argparse.ArgumentTypeError(f"{word!r} is not {meaning}")
        return value

    return number


rate = _number("a number above 0 and up to 240", lambda value: 0.0 < value <= 240.0)
scale = _number(f"a factor above 0 and up to {SCALE_MAX:g}", lambda value: 0.0 < value <= SCALE_MAX)
seconds = _number("a time in seconds", lambda value: 0.0 <= value < math.inf)


def _interval(form: str, bound: Callable[[str], Bound]) -> Callable[[str], tuple[Bound | None, Bound | None]]:
    """Return a parser of A:B, the interval from A to B without B. Either end can be omitted."""

    def interval(word: str) -> tuple[Bound | None, Bound | None]:
        match = re.fullmatch(f"({form})?:({form})?", word)
        if match is None:
            raise argparse.ArgumentTypeError(f"{word!r} is not of the form A:B")
        first, end = match.groups()
        return None if first is None else bound(first), None if end is None else bound(end)

    return interval


frames = _interval(r"\d+", int)
time_range = _interval("[^:]+", seconds)
