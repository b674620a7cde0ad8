"""Alternatives to the renderer, measured on this machine: ffmpeg's filter graph, and a hand-written loop of Skia and
PyAV. They draw the three compositions of `peers`, but their pixels can differ from the farm's.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import skia

from benchmarks.drawing import scenes
from benchmarks.drawing.plain_encoder import PRESET, QUALITY, PlainEncoder
from gpu_renderer.commands.options import FONTS

FPS, SECONDS = scenes.FPS, 10
WIDTH, HEIGHT = 1280, 720
"""The compositions' own pixels; outputs are scaled."""
BOLD, MEDIUM = (FONTS / "reference" / "fonts-inter" / f"Inter-{weight}.otf" for weight in ("Bold", "Medium"))
BLUR_SIGMA_PX = 10.0
State = tuple[float, ...]
Painting = Callable[[skia.Canvas, State], None]


@dataclass(frozen=True, slots=True)
class Composition:
    """`state` returns the moving values at a time in seconds: equal states give equal pictures. `paint` draws a state in 1280 x 720."""

    state: Callable[[float], State]
    paint: Painting
    is_over_footage: bool = False


def skia_fps(letter: str, width: int, height: int, frames: int, footage: Path | None, path: Path) -> float:
    """Return the frames a second of a loop that draws, converts and encodes; unchanged frames are converted once."""
    of = COMPOSITIONS[letter]
    pixels = np.zeros((height, width, 4), np.uint8)
    surface = skia.Surface(pixels)
    started = time.perf_counter()
    with PlainEncoder(path, width, height, FPS) as encoder:
        before: State | None = None
        frame: av.VideoFrame | None = None
        decoded = _decoded(footage) if of.is_over_footage and footage else None
        for index in range(frames):
            state = of.state(index / FPS)
            if decoded is not None:
                pixels[:] = next(decoded)
            if frame is None or decoded is not None or state != before:
                _painted(surface, of.paint, state)
                frame = av.VideoFrame.from_ndarray(pixels, format="rgba").reformat(
                    format="yuv420p", dst_colorspace="ITU709"
                )
            encoder.write(frame)
            before = state
    return frames / (time.perf_counter() - started)


def skia_picture(
    letter: str, width: int, height: int, index: int, below: npt.NDArray[np.uint8] | None
) -> npt.NDArray[np.uint8]:
    """A frame that the loop draws: uint8 RGBA of shape (height, width, 4), over footage where the composition is."""
    pixels = np.zeros((height, width, 4), np.uint8)
    if below is not None:
        pixels[:] = below
    of = COMPOSITIONS[letter]
    _painted(skia.Surface(pixels), of.paint, of.state(index / FPS))
    return pixels


def ffmpeg_fps(letter: str, width: int, height: int, frames: int, footage: Path | None, path: Path) -> float | None:
    """Return the frames a second of ffmpeg with its own threads, without its start. None if the program or a graph is
    missing.
    """
    program = shutil.which("ffmpeg")
    if program is None or letter not in GRAPHS:
        return None
    spans = [_ran(program, letter, width, height, count, footage, path) for count in (1, frames)]
    return (frames - 1) / (spans[1] - spans[0])


def _painted(surface: skia.Surface, paint: Painting, state: State) -> None:
    canvas = surface.getCanvas()
    canvas.save()
    canvas.scale(surface.width() / WIDTH, surface.height() / HEIGHT)
    paint(canvas, state)
    canvas.restore()


def _decoded(footage: Path) -> Iterator[npt.NDArray[np.uint8]]:
    with av.open(str(footage)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="rgba")


def _eased(seconds: float, begin: float, end: float) -> float:
    """Return the progress of a movement, 0 to 1, which slows down to its end."""
    return 1.0 - (1.0 - min(max((seconds - begin) / (end - begin), 0.0), 1.0)) ** 4


def _paint(color: str, alpha: float = 1.0) -> skia.Paint:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return skia.Paint(Color=skia.Color(red, green, blue, round(255 * alpha)), AntiAlias=True)


@cache
def _font(path: Path, size: int) -> skia.Font:
    return skia.Font(skia.Typeface.MakeFromFile(str(path)), size)


def _line(canvas: skia.Canvas, words: str, font: tuple[Path, int], x: float, y: float, paint: skia.Paint) -> None:
    """Draw a line of text with its middle at (x, y)."""
    face = _font(*font)
    canvas.drawString(words, x - face.measureText(words) / 2, y + font[1] * 0.36, face, paint)


def _title_state(seconds: float) -> State:
    out = 1.0 - _eased(seconds, 9, 10)
    title, subtitle = _eased(seconds, 0, 1), _eased(seconds, 0.3, 1.3)
    return _eased(seconds, 0, 0.5), title, subtitle, min(title, out), min(subtitle, out)


def _title_card(canvas: skia.Canvas, state: State) -> None:
    bar, title, subtitle, title_alpha, subtitle_alpha = state
    ends = [skia.Point(280, 0), skia.Point(1000, 720)]
    shader = skia.GradientShader.MakeLinear(ends, [skia.Color(0x1E, 0x1B, 0x4B), skia.Color(0x0E, 0x74, 0x90)])
    canvas.drawPaint(skia.Paint(Shader=shader))
    canvas.drawRect(skia.Rect.MakeXYWH(640 - 450 * bar, 446, 900 * bar, 8), _paint("#22d3ee"))
    _line(canvas, "Ship the frame", (BOLD, 96), 640, 410 - 60 * title, _paint("#ffffff", title_alpha))
    words = "One document in, one video out"
    _line(canvas, words, (MEDIUM, 40), 640, 580 - 60 * subtitle, _paint("#cbd5e1", subtitle_alpha))


def _panel_state(seconds: float) -> State:
    return (-340 + 720 * (_eased(seconds, 1, 1.6) - _eased(seconds, 8, 8.6)),)


def _lower_third(canvas: skia.Canvas, state: State) -> None:
    x = state[0]
    canvas.drawRoundRect(skia.Rect.MakeXYWH(x - 300, 530, 600, 120), 16, 16, _paint("#0f172a", 0.8))
    _line(canvas, "Ada Lovelace", (BOLD, 44), x, 570, _paint("#ffffff"))
    _line(canvas, "Analyst and metaphysician", (MEDIUM, 26), x, 618, _paint("#fbbf24"))


def _busy(canvas: skia.Canvas, state: State) -> None:
    seconds = state[0]
    canvas.clear(skia.Color(0x11, 0x18, 0x27))
    for index in range(30):
        canvas.save()
        x = 640 + 520 * math.sin(seconds * (0.4 + index * 0.05) + index)
        canvas.translate(x, 360 + 280 * math.sin(seconds * (0.7 + index * 0.03) + index * 2))
        canvas.rotate(seconds * (30 + index * 4) + index * 12)
        paint = _paint(scenes.hue(index / 30), 0.7)
        if index % 6 == 0:
            paint.setImageFilter(skia.ImageFilters.Blur(BLUR_SIGMA_PX, BLUR_SIGMA_PX))
        canvas.drawRect(skia.Rect.MakeXYWH(-60, -40, 120, 80), paint)
        canvas.restore()


COMPOSITIONS = {
    "A": Composition(_title_state, _title_card),
    "B": Composition(_panel_state, _lower_third, is_over_footage=True),
    "C": Composition(lambda seconds: (seconds,), _busy),
}


def _ran(program: str, letter: str, width: int, height: int, frames: int, footage: Path | None, path: Path) -> float:
    """Return the seconds that the program took."""
    still = path.with_suffix(".png")
    _write_still(letter, width, height, still)
    words = [program, "-y", "-loglevel", "error", *(("-i", str(footage)) if letter == "B" else ()), "-i", str(still)]
    words += ["-filter_complex", GRAPHS[letter](height / HEIGHT), "-map", "[out]", "-frames:v", str(frames)]
    words += ["-c:v", "libx264", "-preset", PRESET, "-crf", str(QUALITY), "-pix_fmt", "yuv420p", str(path)]
    started = time.perf_counter()
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - started


def _write_still(letter: str, width: int, height: int, path: Path) -> None:
    """Return the static part of a composition as a picture for ffmpeg: A's background, B's panel."""
    if letter == "A":
        pixels = skia_picture("A", width, height, FPS * SECONDS, None)
    else:
        scale = height / HEIGHT
        pixels = np.zeros((round(120 * scale), round(600 * scale), 4), np.uint8)
        canvas = skia.Surface(pixels).getCanvas()
        canvas.scale(scale, scale)
        canvas.drawRoundRect(skia.Rect.MakeXYWH(0, 0, 600, 120), 16, 16, _paint("#0f172a", 0.8))
    skia.Image.fromarray(pixels).save(str(path), skia.kPNG)


def _text(
    words: str, font: tuple[Path, int], y: str, color: str, scale: float, x: str = "(w-tw)/2", alpha: str = "1"
) -> str:
    size = round(font[1] * scale)
    return (
        f"drawtext=fontfile={font[0]}:text='{words}':fontsize={size}:fontcolor={color}:x='{x}':y='{y}':alpha='{alpha}'"
    )


def _grown(begin: float, end: float) -> str:
    """`_eased` as the program's expression."""
    return f"(1-pow(1-clip((t-{begin})/{end - begin}\\,0\\,1)\\,4))"


def _title_graph(scale: float) -> str:
    title, subtitle, out = _grown(0, 1), _grown(0.3, 1.3), f"(1-{_grown(9, 10)})"
    bar = f"scale=w='max(2\\,{900 * scale}*{_grown(0, 0.5)})':h={round(8 * scale)}:eval=frame"
    return (
        f"[0:v]loop=loop=-1:size=1,setpts=N/({FPS}*TB),fps={FPS}[back];"
        f"color=0x22d3ee:s={round(900 * scale)}x{round(8 * scale)}:r={FPS},{bar}[bar];"
        f"[back][bar]overlay=x='(W-w)/2':y={round(446 * scale)}:eval=frame,"
        + _text("Ship the frame", (BOLD, 96), f"{scale}*(410-60*{title})-th/2", "white", scale, alpha=f"min({title}\\,{out})")
        + ","
        + _text("One document in\\, one video out", (MEDIUM, 40), f"{scale}*(580-60*{subtitle})-th/2", "0xcbd5e1", scale,
                alpha=f"min({subtitle}\\,{out})")
        + "[out]"
    )  # fmt: skip


def _panel_graph(scale: float) -> str:
    x = f"{scale}*(-340+720*({_grown(1, 1.6)}-{_grown(8, 8.6)}))"
    return (
        f"[1:v]loop=loop=-1:size=1,setpts=N/({FPS}*TB)[panel];"
        f"[0:v][panel]overlay=x='{x}-w/2':y={round(530 * scale)}:eval=frame,"
        + _text("Ada Lovelace", (BOLD, 44), f"{570 * scale}-th/2", "white", scale, f"{x}-tw/2")
        + ","
        + _text("Analyst and metaphysician", (MEDIUM, 26), f"{618 * scale}-th/2", "0xfbbf24", scale, f"{x}-tw/2")
        + "[out]"
    )


GRAPHS: dict[str, Callable[[float], str]] = {"A": _title_graph, "B": _panel_graph}
"""Filter graphs by composition. ffmpeg cannot draw turning rectangles, so there is none for C."""
