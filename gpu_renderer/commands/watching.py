"""Watch the files of a document for changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

POLL_SECONDS = 0.3


def state_of(paths: tuple[Path, ...]) -> tuple[tuple[str, int, int], ...]:
    """Name, time of change and size of every file at or below the paths; a path that is gone has none."""
    files = [file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return tuple(_stat(file) for file in files if file.is_file())


def changes(paths: tuple[Path, ...], seen: tuple[tuple[str, int, int], ...]) -> Iterator[None]:
    """Yield each time the files differ from their last state and are stable for a moment."""
    while True:
        time.sleep(POLL_SECONDS)
        found = state_of(paths)
        if found == seen or not found:
            continue
        while (later := state_of(paths)) != found or not later:
            found = later
            time.sleep(POLL_SECONDS)
        seen = found
        yield


def _stat(file: Path) -> tuple[str, int, int]:
    try:
        held = file.stat()
    except OSError:
        return str(file), 0, 0
    return str(file), held.st_mtime_ns, held.st_size
