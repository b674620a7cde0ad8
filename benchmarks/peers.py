"""Three compositions that other tools were measured on, each as a share of encoding alone on the same machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.benchmark import Benchmark, Row
from benchmarks.measure import Case, measured

COMPOSITIONS = {"A": "title-card", "B": "lower-third", "C": "busy"}
SIZES = {"720p": (1280, 720), "1080p": (1920, 1080)}
ALONE = {"A 720p": 339, "A 1080p": 141, "B 720p": 167, "B 1080p": 84, "C 720p": 113, "C 1080p": 69}
PEERS = {
    "ffmpeg filter graph": {"A 720p": 209, "A 1080p": 117, "B 720p": 145, "B 1080p": 70},
    "Skia loop, unchanged frames reused": {
        "A 720p": 231, "A 1080p": 111, "B 720p": 99, "B 1080p": 47, "C 720p": 60, "C 1080p": 41,
    },
    "HyperFrames": {"A 720p": 60, "A 1080p": 33, "B 720p": 26, "C 720p": 28},
    "MoviePy": {"A 720p": 28, "A 1080p": 9, "C 720p": 10},
    "Remotion": {"A 720p": 15, "A 1080p": 13, "B 720p": 15, "B 1080p": 12, "C 720p": 13, "C 1080p": 11},
}  # fmt: skip
"""Frames a second of each on two shared cores without a GPU, 2026-11-20; only shares of ALONE are compared."""


def _rows(quick: bool) -> Iterator[Row]:
    """A row a composition and size: our share of encoding alone, the best peer's, and whose it is."""
    for letter in COMPOSITIONS:
        for label in ("720p",) if quick else SIZES:
            yield _row(letter, label, quick)


def _advice(rows: Sequence[Row]) -> str:
    behind = [f"{row['composition']} ({row['best_peer']})" for row in rows if row["ahead"] <= 1.0]
    return f"Behind a peer on {', '.join(behind)}." if behind else "Ahead of every peer."


def _row(letter: str, label: str, quick: bool) -> Row:
    name = f"{letter} {label}"
    found = measured(Case(COMPOSITIONS[letter], *SIZES[label], 90 if quick else 300, rounds=1 if quick else 3))
    shares = {peer: speeds[name] / ALONE[name] for peer, speeds in PEERS.items() if name in speeds}
    best = max(shares, key=lambda peer: shares[peer])
    return {
        "composition": name,
        "fps": found.fps,
        "alone": found.encode_alone_fps,
        "our_share": found.limit_share,
        "best_peer": best,
        "peer_share": round(shares[best], 3),
        "ahead": round(found.limit_share / shares[best], 3),
        "rss_mb": found.peak_rss_mb,
    }


BENCHMARK = Benchmark(
    "How does the farm stand beside the tools that people would pick instead?",
    _rows,
    label="composition",
    bar="ahead",
    limit=1.0,
    advice=_advice,
)
