"""Render rows on a farm through its API, in batches. Each video is downloaded as soon as it is completed."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from render_farm_client import ApiError, BatchRow, FarmClient, NoAnswer
from render_farm_client.retrying import poll_pauses

from cluster.batching.manifest import Manifest
from cluster.batching.rows import Outcome, Row
from farm_core.formats import DEFAULT, OUTPUT_FORMATS
from farm_core.user_error import UserError

ROWS_MAX: Final = 1000
FILE_GONE: Final = (403, 404, 409)
"""HTTP statuses of a deleted video or an expired link. The next run of the command renders the row again."""


class BatchFailed(UserError):
    """The farm refused the batch."""


class FarmRenderer:
    """Render rows with a template of the farm. Columns are the template's inputs.

    A media cell can name a local file. Each file is uploaded once. Rows that an interrupted command has queued are
    awaited, not queued and charged again.
    """

    def __init__(
        self, farm: FarmClient, arguments: argparse.Namespace, output: Mapping[str, int], manifest: Manifest
    ) -> None:
        self._farm, self._manifest = farm, manifest
        self._begins_again: bool = arguments.again
        self._folder: Path | None = arguments.media
        self._format: str | None = arguments.format
        self._output: dict[str, int | bool] = dict(output)
        if arguments.transparent:
            self._output["transparent"] = True
        self._uploads: dict[Path, str] = {}
        try:
            self._template = self._farm.template(arguments.template)
        except (ApiError, NoAnswer) as error:
            farm.close()
            raise BatchFailed(_reason(arguments.template, error)) from error
        self._kinds = {one.id: one.kind for one in self._template.inputs}
        self.inputs = frozenset(self._kinds)
        changed = [self._format] if self._format else []
        if self._template.version > 1:
            changed.append(f"version {self._template.version}")
        self.identity = hashlib.sha256(json.dumps([self._template.id, self._output, *changed]).encode()).hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._farm.close()

    def faults(self, rows: Sequence[Row]) -> list[str]:
        """Return messages about wrong columns, numbers and files. The farm checks the rest before it queues a row."""
        if not self._kinds.keys() & {name for row in rows for name in row.cells}:
            return [f"no column is an input; the template offers {', '.join(sorted(self._kinds)) or 'none'}"]
        faults = [f"line {row.number}: {fault}" for row in rows for fault in self._row_faults(row)]
        return [*faults, *(_format_faults(rows, self._format) or self._transparency_faults(rows))]

    def _transparency_faults(self, rows: Sequence[Row]) -> list[str]:
        name = _format_of(rows, self._format).get("format", DEFAULT)
        if "transparent" in self._output and not OUTPUT_FORMATS[name].has_alpha:
            return [f"--transparent is not possible in {name}, which has no transparency"]
        return []

    def render(self, rows: Sequence[Row]) -> Iterator[Outcome]:
        """Yield the outcome of each row as it ends. Raises BatchFailed if the farm refuses rows."""
        try:
            resumed = {} if self._begins_again else self._under_way(rows)
            for batch_id, found in resumed.items():
                yield from self._awaited(batch_id, found)
            awaited = {row.path for found in resumed.values() for row in found.values()}
            new = [row for row in rows if row.path not in awaited]
            for start in range(0, len(new), ROWS_MAX):
                part = new[start : start + ROWS_MAX]
                yield from self._awaited(self._begun(part), dict(enumerate(part)))
        except (ApiError, NoAnswer) as error:
            raise BatchFailed(f"{error}") from error

    def _under_way(self, rows: Sequence[Row]) -> dict[str, dict[int, Row]]:
        """Return the rows that the farm still renders or keeps, by batch id and index in the batch. Skip cancelled rows."""
        found: dict[str, dict[int, Row]] = {}
        for batch_id, places in self._manifest.under_way(rows, self.identity).items():
            try:
                there = {item.index for item in self._farm.batch_rows(batch_id) if item.status != "cancelled"}
            except ApiError as error:
                if error.status != 404:
                    raise
                continue
            if still_there := {place: row for place, row in places.items() if place in there}:
                found[batch_id] = still_there
        return found

    def _begun(self, rows: Sequence[Row]) -> str:
        """Create a batch of the rows and return its id. An interrupted call finds its earlier batch.

        The idempotency key includes the rows' earlier batches, so a retry of failed rows creates a new batch.
        """
        output = {**self._output, **_format_of(rows, self._format)}
        bodies = [{"inputs": self._inputs(row), "metadata": {"line": row.number}} for row in rows]
        request = [self.identity, output, bodies, self._manifest.batches(rows)]
        key = hashlib.sha256(json.dumps(request).encode()).hexdigest()
        batch = self._farm.create_batch(self._template.id, bodies, output=output or None, idempotency_key=key)
        self._manifest.begin(rows, self.identity, batch.batch_id)
        return batch.batch_id

    def _awaited(self, batch_id: str, rows: Mapping[int, Row]) -> Iterator[Outcome]:
        """Yield the outcome of each row of the batch as it ends."""
        waiting = dict(rows)
        for pause in poll_pauses():
            for item in self._farm.batch_rows(batch_id):
                if item.index in waiting and item.status in ("completed", "failed", "cancelled", "refused"):
                    yield self._fetched(item, waiting.pop(item.index))
            if not waiting:
                return
            time.sleep(pause)

    def _fetched(self, item: BatchRow, row: Row) -> Outcome:
        if item.status != "completed" or item.job_id is None:
            return Outcome(row, item.error or f"the render was {item.status}")
        try:
            self._farm.download(item.job_id, row.path)
        except ApiError as error:
            if error.code is not None or error.status not in FILE_GONE:
                raise
            return Outcome(row, f"the video cannot be fetched: {error}")
        return Outcome(row, warnings=[one["message"] for one in item.warnings])

    def _row_faults(self, row: Row) -> Iterator[str]:
        for name, text in row.cells.items():
            kind = self._kinds.get(name)
            if kind == "number" and not _is_number(text):
                yield f"{name} must be a number, not {text!r}"
            if kind in ("image", "media") and not _is_address(text) and not self._path(text).is_file():
                where = "; --media names a folder of files" if self._folder is None else f" in {self._folder}"
                yield f"{name}: {text} is neither an address nor a file{where}"

    def _inputs(self, row: Row) -> dict[str, Any]:
        found = {}
        for name, text in row.cells.items():
            if name in self._kinds:
                try:
                    found[name] = self._value(self._kinds[name], text)
                except ApiError as error:
                    raise BatchFailed(f"line {row.number}: {name}: {text} cannot be uploaded: {error}") from error
        return found

    def _value(self, kind: str, text: str) -> str | float:
        if kind == "number":
            return float(text)
        if kind not in ("image", "media") or _is_address(text):
            return text
        path = self._path(text)
        if path not in self._uploads:
            self._uploads[path] = self._farm.upload(path).url
        return self._uploads[path]

    def _path(self, text: str) -> Path:
        """Return the path of the file in the media folder if it exists there, otherwise `text` as a path."""
        inside = None if self._folder is None else self._folder / text
        return inside if inside is not None and inside.is_file() else Path(text)


def _reason(template: str, error: ApiError | NoAnswer) -> str:
    """Return a message that explains why the template could not be fetched."""
    if isinstance(error, NoAnswer):
        return f"the farm does not answer: {error}"
    if error.status == 404:
        return (
            f"{template} is neither a file here nor a template of the account, which --account or --key names: {error}"
        )
    return str(error)


def _format_faults(rows: Sequence[Row], wanted: str | None) -> list[str]:
    """Return messages about wrong file extensions. A batch has one format, and a format has one extension."""
    endings = {row.path.suffix.lower() for row in rows}
    if len(endings) > 1:
        return [f"--out: one batch has one format, not {', '.join(sorted(endings))}"]
    known = {output_format.ending for output_format in OUTPUT_FORMATS.values()}
    ending = endings.pop()
    if ending not in known:
        return [
            f"--out: {ending or 'a name without an ending'} is not a format of a farm; use {', '.join(sorted(known))}"
        ]
    if wanted is not None and OUTPUT_FORMATS[wanted].ending != ending:
        return [f"--out: a file of the format {wanted} ends with {OUTPUT_FORMATS[wanted].ending}"]
    return []


def _format_of(rows: Sequence[Row], wanted: str | None) -> dict[str, str]:
    """Return the output format, given by name or by the file extension. Return an empty dict for MP4."""
    ending = rows[0].path.suffix.lower()
    found = wanted or next(
        output_format.name for output_format in OUTPUT_FORMATS.values() if output_format.ending == ending
    )
    return {} if found == DEFAULT else {"format": found}


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
