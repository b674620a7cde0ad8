"""Every scene at 720p, 1080p and 4K beside encoding its frames alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.benchmark import Benchmark, Row
from benchmarks.measure import Case, Measured, measured
from benchmarks.scenes import SCENES

SIZES = {(1280, 720): 300, (1920, 1080): 150, (3840, 2160): 30}
"""Frames by size: a row takes half a minute at any."""
VERTICAL = "vertical-promo"


def _rows(quick: bool) -> Iterator[Row]:
    """A row a scene and size. Quick: 720p only, fewer frames."""
    for size, frames in ({(1280, 720): 90} if quick else SIZES).items():
        for name in SCENES:
            yield _row(measured(_case(name, size, frames)))


def _advice(rows: Sequence[Row]) -> str:
    short = [row for row in rows if row["limit_share"] < row["wanted"]]
    said = "; ".join(f"{row['scene']} {row['size']}: {row['slowest']}" for row in short)
    return f"Short of what is wanted, and the stage that holds it back: {said}." if short else ""


def _case(name: str, size: tuple[int, int], frames: int) -> Case:
    width, height = (size[1], size[0]) if name == VERTICAL else size
    return Case(name, width, height, frames, rounds=2)


def _row(found: Measured) -> Row:
    exact = found.exact_stage_ms
    drawing = {name: exact[name] for name in ("evaluate", "draw", "convert", "readback")}
    return {
        "scene": found.scene,
        "size": found.size,
        "fps": found.fps,
        "alone": found.encode_alone_fps,
        "limit_share": found.limit_share,
        "plain_alone": found.plain_alone_fps,
        "plain_share": round(found.fps / found.plain_alone_fps, 3),
        "wanted": SCENES[found.scene].limit_share,
        **{f"{name}_ms": ms for name, ms in exact.items()},
        "slowest": max(drawing, key=lambda name: drawing[name]),
        "converted": f"{found.converted_frames}/{found.frames}",
        "held": found.held_frames,
        "first_ms": found.first_frame_ms,
        "rss_mb": found.peak_rss_mb,
    }


BENCHMARK = Benchmark(
    "How near does each scene come to encoding its frames alone?",
    _rows,
    label="scene",
    bar="limit_share",
    limit=0.8,
    advice=_advice,
)
