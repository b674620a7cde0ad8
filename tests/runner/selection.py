"""Which tests run, and in which order.

A test that uses an embedded server or the browser is marked `service`. `--fast` leaves these tests out, and those marked
`acceptance`, `chaos` or `thorough`. `--servers` divides all tests into those without servers and those with them. Files run by stage, the cheapest stage first, and within a stage by recorded duration, the
shortest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pytest

from tests.runner import durations

SERVERS: Final = {"postgres_server", "valkey_server", "s3_server", "chromium"}
"""Fixtures that start a server or the browser."""
STAGES: Final = ("gl", "service", "acceptance", "chaos", "slow")
"""Marks from cheap to expensive. A test without any of them runs first."""
WITH_SERVERS: Final = ("service", "acceptance", "chaos")
"""Marks of tests that start servers or processes of the farm."""
LEFT_OUT_OF_FAST: Final = (*WITH_SERVERS, "thorough")


def mark_services(items: Iterable[pytest.Item]) -> None:
    """Add the mark `service` to tests whose fixtures start a server."""
    for item in items:
        if SERVERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("service")


def select(
    items: list[pytest.Item], *, fast: bool, slow: bool, servers: str | None = None
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Tests that run and tests that are left out. `servers` is "without", "only", or None for both kinds."""
    unwanted = {*(() if slow else ("slow",)), *(LEFT_OUT_OF_FAST if fast else ())}
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        marks = _marks(item)
        other_part = servers is not None and marks.isdisjoint(WITH_SERVERS) == (servers == "only")
        (left_out if other_part or unwanted & marks else kept).append(item)
    return kept, left_out


def order(items: list[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """Tests in the order of their files: by stage, then by recorded seconds. The order within a file stays."""
    files = durations.by_file(seconds)
    stages: dict[str, int] = {}
    for item in items:
        file = durations.file_of(item.nodeid)
        stages[file] = max(stages.get(file, 0), _stage(item))

    def key(item: pytest.Item) -> tuple[int, float]:
        file = durations.file_of(item.nodeid)
        return stages[file], files.get(file, 0.0)

    return sorted(items, key=key)


def _stage(item: pytest.Item) -> int:
    marks = _marks(item)
    return max((number for number, name in enumerate(STAGES, start=1) if name in marks), default=0)


def _marks(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}
