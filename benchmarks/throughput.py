"""Every scene at 720p, 1080p and 4K beside encoding its frames alone.

The limit is the one that other tools were measured against: PyAV's x264 on two threads as PyAV sets them
(`plain_encoder.py`). `same_alone` is the farm's own encoder with the same frames alone. It is faster, because its
threads work on whole frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.drawing.measure import Case, Measured, measured
from benchmarks.drawing.scenes import SCENES
from benchmarks.runner.benchmark import Benchmark, Row

SIZES = {(1280, 720): (300, 150, 4), (1920, 1080): (150, 90, 3), (3840, 2160): (30, 30, 2)}
"""By size: frames of a scene that mostly stands, and of others, and rounds. A row takes some 25 s at any."""
STANDING = ("title-card", "slideshow")
VERTICAL = "vertical-promo"


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each scene and size. Quick: 720p only, fewer frames."""
    for size, (standing, moving, rounds) in ({(1280, 720): (90, 90, 2)} if quick else SIZES).items():
        for name in SCENES:
            yield _row(measured(_case(name, size, standing if name in STANDING else moving, rounds)))


def _advice(rows: Sequence[Row]) -> str:
    short = [row for row in rows if row["limit_share"] < row["wanted"]]
    shortfalls = "; ".join(f"{row['scene']} {row['size']}: {row['slowest']}" for row in short)
    return f"Short of what is wanted, and the stage that holds it back: {shortfalls}." if short else ""


def _case(name: str, size: tuple[int, int], frames: int, rounds: int) -> Case:
    width, height = (size[1], size[0]) if name == VERTICAL else size
    return Case(name, width, height, frames, rounds)


def _row(found: Measured) -> Row:
    exact = found.exact_stage_ms
    drawing = {name: exact[name] for name in ("evaluate", "draw", "convert", "readback")}
    return {
        "scene": found.scene,
        "size": found.size,
        "fps": found.fps,
        "alone": found.alone_fps,
        "limit_share": found.limit_share,
        "same_alone": found.same_alone_fps,
        "same_share": found.same_share,
        "wanted": SCENES[found.scene].limit_share,
        **{f"{name}_ms": ms for name, ms in exact.items()},
        "slowest": max(drawing, key=lambda name: drawing[name]),
        "converted": f"{found.converted_frames}/{found.frames}",
        "repeated": found.repeat_frames,
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
