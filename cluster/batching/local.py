"""Render rows on this machine without any service, with one GL context for all of them."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from cluster.batching.rows import Outcome, Row
from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, fields_by_id, read_local, with_inputs
from gpu_renderer.commands.local_files import format_of, write
from gpu_renderer.commands.local_job import LocalJob
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.errors import RenderError
from gpu_renderer.session import Output, RenderSession
from motion import template
from motion.errors import DocumentError


class LocalRenderer:
    """Render rows of a project file in this process. Other columns than inputs are ignored; the file name can use them."""

    def __init__(self, arguments: argparse.Namespace, output: Mapping[str, int]) -> None:
        self._document = read_local(Path(arguments.template))
        self._arguments, self._folder = arguments, arguments.media
        self._output = dict(output)
        self._inputs = fields_by_id(self._document)
        self.inputs = frozenset(self._inputs)
        self._stack = ExitStack()
        self._format: str | None = arguments.format
        changed = [part for part in (arguments.format, arguments.transparent) if part]
        self.identity = hashlib.sha256(json.dumps([self._document, dict(output), *changed]).encode()).hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def faults(self, rows: Sequence[Row]) -> list[str]:
        """Return messages about wrong cells."""
        if not self._inputs.keys() & {name for row in rows for name in row.cells}:
            return [f"no column is an input; the document offers {', '.join(sorted(self._inputs)) or 'none'}"]
        found = []
        for row in rows:
            found += self._format_faults(row)
            try:
                with_inputs(self._document, self._values(row), LocalMedia(self._folder))
                found += self._value_faults(row)
            except DocumentError as error:
                found += [f"line {row.number}: {line}" for line in error.message.splitlines()]
        return found

    def render(self, rows: Sequence[Row]) -> Iterator[Outcome]:
        """Yield the outcome of each row as it ends."""
        if not rows:
            return
        session = self._stack.enter_context(RenderSession(options.default_session_options(self._arguments.machine())))
        for row in rows:
            try:
                yield Outcome(row, warnings=self._write(session, row))
            except (DocumentError, RenderError, OSError) as error:
                yield Outcome(row, str(error))

    def _values(self, row: Row) -> dict[str, str]:
        return {name: value for name, value in row.cells.items() if name in self._inputs}

    def _value_faults(self, row: Row) -> list[str]:
        colors = {name: value for name, value in self._values(row).items() if self._inputs[name].kind == "color"}
        fields = [self._inputs[name] for name in colors]
        return [f"line {row.number}: {fault.field} {fault.message}" for fault in template.validate(fields, colors)]

    def _format_faults(self, row: Row) -> list[str]:
        try:
            name = format_of(row.path, self._format)
        except RenderError as error:
            return [f"line {row.number}: {error}"]
        if self._arguments.transparent and not FORMATS[name].has_alpha:
            return [f"line {row.number}: --transparent is not possible in {name}, which has no transparency"]
        return []

    def _write(self, session: RenderSession, row: Row) -> Sequence[str]:
        """Render the row's video. Return the warnings."""
        size = (self._output.get("width"), self._output.get("height"), self._output.get("fps"))
        job = LocalJob(
            file=Path(self._arguments.template), format_name=format_of(row.path, self._format),
            inputs=tuple(self._values(row).items()), media=self._folder, machine=self._arguments.machine(),
            output=Output(*size, is_transparent=self._arguments.transparent),
        )  # fmt: skip
        opened_job = job.open(session)
        with opened_job.opened as opened:
            return write(session, opened_job, range(opened.frame_count), row.path, shows_progress=False)[1]
