"""Three compositions that other tools were measured on, each as a share of encoding alone on the same machine.

Encoding alone is what those tools were compared with: PyAV's encoder with its default two threads (`plain_encoder.py`). Two of
the tools are also measured in the same run (`baselines.py`): a hand-written Skia loop, and ffmpeg's filter graph if the program is
installed. For these two the better of the measured share and the one in PEERS counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.drawing import baselines
from benchmarks.drawing.measure import Case, measured, video_of
from benchmarks.runner.benchmark import Benchmark, Row

TURNS = 3
"""Each of so many rounds, in which all tools are measured one after the other: a shared machine's speed moves by the minute."""
COMPOSITIONS = {"A": "title-card", "B": "lower-third", "C": "busy"}
SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
ALONE = {"A 720p": 339, "A 1080p": 141, "B 720p": 167, "B 1080p": 84, "C 720p": 113, "C 1080p": 69}
FFMPEG, SKIA = "ffmpeg filter graph", "Skia loop, unchanged frames reused"
PEERS = {
    FFMPEG: {"A 720p": 209, "A 1080p": 117, "B 720p": 145, "B 1080p": 70},
    SKIA: {
        "A 720p": 231, "A 1080p": 111, "B 720p": 99, "B 1080p": 47, "C 720p": 60, "C 1080p": 41,
    },
    "HyperFrames": {"A 720p": 60, "A 1080p": 33, "B 720p": 26, "C 720p": 28},
    "MoviePy": {"A 720p": 28, "A 1080p": 9, "C 720p": 10},
    "Remotion": {"A 720p": 15, "A 1080p": 13, "B 720p": 15, "B 1080p": 12, "C 720p": 13, "C 1080p": 11},
}  # fmt: skip
"""Frames a second of each on two shared cores without a GPU, 2026-11-20; only shares of ALONE are compared."""


def _rows(quick: bool) -> Iterator[Row]:
    """Yield a row for each composition and size: our share of encoding alone, the best peer's, and whose it is."""
    for letter in COMPOSITIONS:
        for label in ("720p",) if quick else SIZES:
            yield _row(letter, label, quick)


def _advice(rows: Sequence[Row]) -> str:
    behind = [f"{row['composition']} ({row['best_peer']})" for row in rows if row["ahead"] <= 1.0]
    verdict = f"Behind a peer on {', '.join(behind)}." if behind else "Ahead of every peer."
    return (
        verdict
        if any(row["ffmpeg_fps"] for row in rows)
        else f"{verdict} There is no ffmpeg here to be measured beside it."
    )


def _row(letter: str, label: str, quick: bool) -> Row:
    name, size = f"{letter} {label}", SIZES[label]
    case = Case(COMPOSITIONS[letter], *size, 90 if quick else 300, rounds=2)
    turns = [(measured(case), _measured_here(letter, case)) for _ in range(1 if quick else TURNS)]
    ours = [found for found, _ in turns]
    fps, alone = (max(speeds) for speeds in ([found.fps for found in ours], [found.alone_fps for found in ours]))
    here = {peer: max(speeds[peer] for _, speeds in turns) for peer in turns[0][1]}
    our_share = fps / alone
    shares = {peer: speeds[name] / ALONE[name] for peer, speeds in PEERS.items() if name in speeds}
    for peer, speed in here.items():
        shares[peer] = max(shares.get(peer, 0.0), speed / alone)
    best = max(shares, key=lambda peer: shares[peer])
    return {
        "composition": name,
        "fps": fps,
        "alone": alone,
        "our_share": round(our_share, 3),
        "ffmpeg_fps": round(here[FFMPEG], 1) if FFMPEG in here else None,
        "skia_fps": round(here[SKIA], 1),
        "best_peer": best,
        "peer_share": round(shares[best], 3),
        "ahead": round(our_share / shares[best], 3),
        "rss_mb": max(found.peak_rss_mb for found in ours),
    }


def _measured_here(letter: str, case: Case) -> dict[str, float]:
    """Frames a second of the baselines that can be had here, the best of as many rounds as ours in each turn."""
    found: dict[str, float] = {}
    footage = video_of(case)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rival.mp4"
        for _ in range(case.rounds):
            for peer, rival in ((FFMPEG, baselines.ffmpeg_fps), (SKIA, baselines.skia_fps)):
                fps = rival(letter, case.width, case.height, case.frames, footage, path)
                if fps is not None:
                    found[peer] = max(found.get(peer, 0.0), fps)
    return found


BENCHMARK = Benchmark(
    "How does the farm stand beside the tools that people would pick instead?",
    _rows,
    label="composition",
    bar="ahead",
    limit=1.0,
    advice=_advice,
)
