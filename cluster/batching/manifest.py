"""Manifest of a batch: a JSON file beside the videos with the result of each row, written after every row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cluster.batching.rows import Outcome, Row


class Manifest:
    """Results by video path: the row's cells, the renderer's identity, and `rendering`, `done` or the error.

    Rows that a farm renders also have their batch id and their index in the batch.
    """

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
        """Return True if the row's video exists and was rendered from the same cells, template and output settings."""
        entry = self._rows.get(str(row.path), {})
        return entry.get("digest") == _digest(row, identity) and entry.get("status") == "done" and row.path.is_file()

    def under_way(self, rows: Sequence[Row], identity: str) -> dict[str, dict[int, Row]]:
        """Return the rows that a farm was rendering when the command ended, by batch id and index in the batch."""
        found: dict[str, dict[int, Row]] = {}
        for row in rows:
            entry = self._rows.get(str(row.path), {})
            if entry.get("digest") == _digest(row, identity) and entry.get("status") == "rendering":
                found.setdefault(entry["batch"], {})[entry["place"]] = row
        return found

    def batches(self, rows: Sequence[Row]) -> list[str]:
        """Return the ids of the batches that rendered the rows last."""
        return sorted({batch for row in rows if (batch := self._rows.get(str(row.path), {}).get("batch"))})

    def begin(self, rows: Sequence[Row], identity: str, batch: str) -> None:
        """Record that a farm renders the rows in a batch."""
        for place, row in enumerate(rows):
            self._rows[str(row.path)] = _entry(row, identity, "rendering", None) | {"batch": batch, "place": place}
        self._write()

    def note(self, outcome: Outcome, identity: str) -> None:
        """Record the result of a row."""
        row, error = outcome.row, outcome.error
        former = self._rows.get(str(row.path), {})
        kept = {name: former[name] for name in ("batch", "place") if name in former}
        entry = _entry(row, identity, "failed" if error else "done", error) | kept
        self._rows[str(row.path)] = entry | ({"warnings": list(outcome.warnings)} if outcome.warnings else {})
        self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps({"videos": self._rows}, indent=2, ensure_ascii=False))
        draft.replace(self.path)


def _entry(row: Row, identity: str, status: str, error: str | None) -> dict[str, Any]:
    return {
        "line": row.number, "inputs": dict(row.cells), "status": status, "error": error, "digest": _digest(row, identity),
    }  # fmt: skip


def _digest(row: Row, identity: str) -> str:
    return hashlib.sha256(json.dumps([identity, sorted(row.cells.items())]).encode()).hexdigest()
