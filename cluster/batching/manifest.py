"""Results of the rows: a JSON file beside the videos, written after every row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cluster.batching.rows import Row


class Manifest:
    """Results by the video's path: the row's cells, the identity of the renderer, and `done` or the error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._rows: dict[str, dict[str, Any]] = json.loads(path.read_text())["videos"]
        except (OSError, ValueError, KeyError, TypeError):
            self._rows = {}

    @classmethod
    def beside(cls, rows: Sequence[Row]) -> Manifest:
        """Return the manifest in the folder of the first video."""
        return cls(rows[0].path.parent / "manifest.json")

    def has(self, row: Row, identity: str) -> bool:
        """True if the row's video is there, made of the same cells by the same template and output."""
        entry = self._rows.get(str(row.path), {})
        return entry.get("digest") == _digest(row, identity) and entry.get("error") is None and row.path.is_file()

    def note(self, row: Row, identity: str, error: str | None) -> None:
        """Record the result of a row."""
        self._rows[str(row.path)] = {
            "line": row.number, "inputs": dict(row.cells), "status": "failed" if error else "done", "error": error,
            "digest": _digest(row, identity),
        }  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps({"videos": self._rows}, indent=2, ensure_ascii=False))
        draft.replace(self.path)


def _digest(row: Row, identity: str) -> str:
    return hashlib.sha256(json.dumps([identity, sorted(row.cells.items())]).encode()).hexdigest()
