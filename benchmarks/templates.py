"""Every template of the corpus, unchanged, to find slow documents and their slow stages.

The documents lie outside this project; without them there is nothing to run. Videos and pictures that they name elsewhere are missing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.reference import CORPUS
from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, read_local
from gpu_renderer.session import Output, RenderSession

FRAMES_MAX = 40
START = 0.25
"""Share of the duration at which measuring starts: entering layers are visible and still move."""
SLOW_MS = 100.0


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each template: milliseconds a frame, all stages side by side, and of the slowest stages alone."""
    folders = sorted(path.parent for path in (CORPUS / "templates").glob("*/document.json"))
    if not folders:
        return
    with RenderSession(options.default_session_options(fonts="reference")) as session:
        for folder in folders[::4] if quick else folders:
            yield _row(session, folder)


def _row(session: RenderSession, folder: Path) -> Row:
    document = read_local(folder / "document.json")
    with tempfile.TemporaryDirectory() as out, session.open(document, Output(), LocalMedia(folder).resolve) as opened:
        first = int(opened.frame_count * START)
        count = min(FRAMES_MAX, opened.frame_count - first)
        path = Path(out) / "segment.mp4"
        session.render_segment(opened, first, min(3, count), path)
        report = session.render_segment(opened, first, count, path)
        stages = {f"{stage} ms": round(report.stage_ms[stage] / count, 1) for stage in ("draw", "convert", "encode")}
        size = f"{opened.width}x{opened.height}"
        return {"document": folder.name, "size": size, "ms a frame": round(report.wall_ms / count, 1), **stages}


def _advice(rows: Sequence[Row]) -> str:
    if not rows:
        return f"Nothing to draw: there are no templates in {CORPUS.name}."
    slow = [str(row["document"]) for row in rows if row["ms a frame"] > SLOW_MS]
    return (
        f"Over {SLOW_MS:.0f} ms a frame: {', '.join(slow)}." if slow else f"None takes over {SLOW_MS:.0f} ms a frame."
    )


BENCHMARK = Benchmark(
    question="How long do the frames of real documents take?",
    rows=_rows,
    label="document",
    bar="ms a frame",
    advice=_advice,
    is_ranked=True,
)
