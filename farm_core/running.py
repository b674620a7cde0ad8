"""File in the data folder through which other processes find the running farm."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = "farm.json"


@dataclass(frozen=True, slots=True)
class Running:
    """A running farm: the addresses of its database, Redis and API, and its main process."""

    database_url: str
    redis_url: str
    origin: str
    pid: int


def write(data_folder: Path, running: Running) -> None:
    """Record the farm in a file that only its owner can read."""
    path = data_folder / _FILE
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(asdict(running), indent=2))
    draft.replace(path)


def read(data_folder: Path) -> Running | None:
    """Return the recorded farm. It may have ended since."""
    try:
        return Running(**json.loads((data_folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove(data_folder: Path) -> None:
    """Remove the record after the farm has ended."""
    (data_folder / _FILE).unlink(missing_ok=True)
