"""Select and order the tests.

A test that uses an embedded server or the browser is marked `service`. `--fast` excludes these tests and those marked
`acceptance`, `chaos` or `thorough`. `--servers` divides all tests into three parts. Files run by stage, the cheapest
stage first, and within a stage by recorded duration, the shortest first. In lanes the longest file runs first, so
that all lanes end at about the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.runner import durations

SERVERS: Final = {"postgres_server", "valkey_server", "shared_valkey_server", "s3_server", "chromium"}
"""Fixtures that start a server or the browser."""
STAGES: Final = ("gl", "service", "acceptance", "chaos", "slow")
"""Marks from cheap to expensive. Tests without any of them run first."""
WITH_SERVERS: Final = ("service", "acceptance", "chaos")
"""Marks of tests that start servers or processes of the farm."""
USE_EVERY_CORE: Final = ("alone", "acceptance", "chaos")
"""Marks of tests that load every core, with Ray or by themselves."""
LEFT_OUT_OF_FAST: Final = (*WITH_SERVERS, "thorough")
WITHOUT, LANES, ALONE = "without", "lanes", "alone"
PARTS: Final = (WITHOUT, LANES, ALONE)
"""Tests without servers; tests with servers, which several processes run side by side; tests that use every core."""

COLLECTED: Final = {
    LANES: ("api", "attacks", "clients", "cluster", "console", "farm_core", "fuzz", "scheduler", "simulation"),
    ALONE: ("acceptance", "attacks/test_contention.py", "console/test_farm.py"),
}  # fmt: skip
"""Folders and files of `tests` that each part collects, because collecting everything takes a process 18 s. The part
without servers collects everything, and also runs those tests with servers that these lists omit."""


def mark_services(items: Iterable[pytest.Item]) -> None:
    """Add the mark `service` to tests whose fixtures start a server."""
    for item in items:
        if SERVERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("service")


def is_left_out(path: Path, project: Path, part: str | None) -> bool:
    """Return True if the part does not collect this file or folder."""
    tests = project / "tests"
    if part not in COLLECTED or tests not in path.parents:
        return False
    collected = [tests / name for name in COLLECTED[part]]
    return not any(path.is_relative_to(one) or one.is_relative_to(path) for one in collected)


def select(
    items: list[pytest.Item], *, fast: bool, slow: bool, servers: str | None = None
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the selected and the deselected tests. `servers` is one of PARTS, or None for all tests."""
    unwanted = {*(() if slow else ("slow",)), *(LEFT_OUT_OF_FAST if fast else ())}
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        marks = _marks(item)
        other_part = servers is not None and _part(item, marks) != servers
        (left_out if other_part or unwanted & marks else kept).append(item)
    return kept, left_out


def order(items: list[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """Return the tests ordered by file: by stage, then by recorded seconds. The order within a file stays."""
    files = durations.by_file(seconds)
    stages: dict[str, int] = {}
    for item in items:
        file = durations.file_of(item.nodeid)
        stages[file] = max(stages.get(file, 0), _stage(item))

    def key(item: pytest.Item) -> tuple[int, float]:
        file = durations.file_of(item.nodeid)
        return stages[file], files.get(file, 0.0)

    return sorted(items, key=key)


def longest_first(items: list[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """Return the tests ordered by file, longest first. A file without a record, as in a new checkout, counts the guessed
    seconds of its tests."""
    files: Mapping[str, float] = durations.by_file(seconds)
    guessed = durations.by_file({item.nodeid: _guessed_seconds(item) for item in items})

    def key(item: pytest.Item) -> tuple[float, str]:
        file = durations.file_of(item.nodeid)
        return -files.get(file, guessed[file]), file

    return sorted(items, key=key)


def _guessed_seconds(item: pytest.Item) -> float:
    if "thorough" in _marks(item):
        return 8.0
    return 4.0 if "chromium" in getattr(item, "fixturenames", ()) else 1.0


def _part(item: pytest.Item, marks: set[str]) -> str:
    if marks.isdisjoint(WITH_SERVERS):
        return WITHOUT
    part = LANES if marks.isdisjoint(USE_EVERY_CORE) else ALONE
    return WITHOUT if is_left_out(item.path, item.config.rootpath, part) else part


def _stage(item: pytest.Item) -> int:
    marks = _marks(item)
    return max((number for number, name in enumerate(STAGES, start=1) if name in marks), default=0)


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}
