"""Seconds that each test took last time, kept in `.cache/test-durations.json` of the project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = Path(".cache", "test-durations.json")


def recorded(project: Path) -> dict[str, float]:
    """Seconds by node id; empty if nothing was recorded or the file is damaged."""
    try:
        found = json.loads((project / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def record(seconds: Mapping[str, float], project: Path) -> None:
    """Add seconds by node id to the record, in place of what the same tests took before."""
    if not seconds:
        return
    file = project / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    merged = recorded(project) | {name: round(value, 3) for name, value in seconds.items()}
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(merged, indent=0, sort_keys=True) + "\n")
    draft.replace(file)


def by_file(seconds: Mapping[str, float]) -> dict[str, float]:
    """Seconds by test file."""
    totals: dict[str, float] = {}
    for name, value in seconds.items():
        file = file_of(name)
        totals[file] = totals.get(file, 0.0) + value
    return totals


def file_of(name: str) -> str:
    """The file of a node id."""
    return name.partition("::")[0]
