"""The file in the data folder by which other processes find a running farm."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "farm.json"


@dataclass(frozen=True, slots=True)
class Running:
    """A farm that runs on a data folder: where its parts are, and the process that keeps it."""

    database_url: str
    redis_url: str
    origin: str
    pid: int


def write(data_folder: Path, running: Running) -> None:
    """Tell of the farm; readable by its owner only."""
    path = data_folder / _FILE
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(asdict(running), indent=2))
    draft.replace(path)


def read(data_folder: Path) -> Running | None:
    """Return the farm that was recorded last. It may have ended since."""
    try:
        return Running(**json.loads((data_folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove(data_folder: Path) -> None:
    """The farm has ended."""
    (data_folder / _FILE).unlink(missing_ok=True)
