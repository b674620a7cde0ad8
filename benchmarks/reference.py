"""Comparison with the editor's renderer on the same documents, by a yardstick that was measured on both machines.

The figures to compare with lie beside the corpus, outside this project; without them there is nothing to run.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av

from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, read_local
from gpu_renderer.session import Output, RenderSession

CORPUS = options.ROOT.parent / "shared" / "corpus"
LIMIT_TIMES = 15.0
ROUNDS = 2
YARDSTICK_FRAMES = 300


@dataclass(frozen=True, slots=True)
class Reference:
    """A row of the editor's figures: frames a second, of the document and of the yardstick on that machine."""

    document: str
    width: int
    height: int
    frames: int
    frames_per_second: float
    yardstick_frames_per_second: float


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each document and size; `times` is the ratio of both renderers' frames a second, each over its yardstick."""
    found = [row for row in references() if (CORPUS / "templates" / row.document).is_dir()]
    if not found:
        return
    with RenderSession(options.default_session_options(fonts="reference")) as session:
        for reference in found[::2] if quick else found:
            yield _row(session, reference)


def _advice(rows: Sequence[Row]) -> str:
    if not rows:
        return f"Nothing to compare with: there are no figures in {CORPUS.name}."
    behind = [f"{row['document']} {row['size']}" for row in rows if row["times"] < LIMIT_TIMES]
    return f"Under {LIMIT_TIMES:.0f} times: {', '.join(behind)}." if behind else f"All over {LIMIT_TIMES:.0f} times."


def references() -> list[Reference]:
    """Return the editor's figures, none if the files are missing."""
    path = CORPUS / "speed.json"
    if not path.is_file():
        return []
    wanted = Reference.__dataclass_fields__
    return [Reference(**{key: row[key] for key in wanted}) for row in json.loads(path.read_text())["rows"]]


def _row(session: RenderSession, reference: Reference) -> Row:
    fps = max(_frames_per_second(session, reference) for _ in range(ROUNDS))
    yardstick = yardstick_frames_per_second()
    theirs = reference.frames_per_second / reference.yardstick_frames_per_second
    return {
        "document": reference.document,
        "size": f"{reference.width}x{reference.height}",
        "fps": round(fps, 1),
        "yardstick fps": round(yardstick, 1),
        "reference fps": reference.frames_per_second,
        "times": round(fps / yardstick / theirs, 1),
    }


def _frames_per_second(session: RenderSession, reference: Reference) -> float:
    """Return the rate of frames drawn and encoded after the first one, as the reference was measured."""
    folder = CORPUS / "templates" / reference.document
    media = LocalMedia(folder)
    document = read_local(folder / "document.json")
    output = Output(reference.width, reference.height)
    with tempfile.TemporaryDirectory() as out, session.open(document, output, media.resolve) as opened:
        count = min(reference.frames, opened.frame_count)
        session.still(opened, 0)
        began = time.perf_counter()
        session.render_segment(opened, 0, count, Path(out) / "segment.mp4")
        return count / (time.perf_counter() - began)


def yardstick_frames_per_second() -> float:
    """FFmpeg's test picture (testsrc2, 1280x720) through libx264 `veryfast`, to nowhere."""
    graph = av.filter.Graph()
    source = graph.add("testsrc2", "size=1280x720:rate=25")
    planar, sink = graph.add("format", "pix_fmts=yuv420p"), graph.add("buffersink")
    source.link_to(planar)
    planar.link_to(sink)
    graph.configure()
    began = time.perf_counter()
    with av.open("/dev/null", "w", format="null") as container:
        stream = container.add_stream("libx264", rate=25, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for number in range(YARDSTICK_FRAMES):
            frame = graph.vpull()
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return YARDSTICK_FRAMES / (time.perf_counter() - began)


BENCHMARK = Benchmark(
    "How many times as fast as the editor's own renderer, with software GL on the same documents?",
    _rows,
    label="document",
    bar="times",
    limit=LIMIT_TIMES,
    advice=_advice,
)
