"""Last duration of each test, stored in the project's `.cache/test-durations.json`."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE: Final = Path(".cache", "test-durations.json")


def recorded(project: Path) -> dict[str, float]:
    """Return seconds by node id, or nothing if there is no record or it is damaged."""
    try:
        found = json.loads((project / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def record(seconds: Mapping[str, float], project: Path) -> None:
    """Add seconds by node id to the record, and replace those of the same tests."""
    if not seconds:
        return
    file = project / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:  # the parts of a run can end at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        merged = recorded(project) | {name: round(value, 3) for name, value in seconds.items()}
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(merged, indent=0, sort_keys=True) + "\n")
        draft.replace(file)


def by_file(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return seconds by test file."""
    totals: dict[str, float] = {}
    for name, value in seconds.items():
        file = file_of(name)
        totals[file] = totals.get(file, 0.0) + value
    return totals


def file_of(name: str) -> str:
    """Return the file of a node id."""
    return name.partition("::")[0]
