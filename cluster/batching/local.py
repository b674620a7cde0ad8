"""Renders rows on this machine, without any service: one GL context for all of them."""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from cluster.batching.rows import Row
from gpu_renderer.commands import options
from gpu_renderer.commands.local import InputRefused, LocalMedia, fields_of, read_local, with_inputs
from gpu_renderer.encode.assemble import assemble
from gpu_renderer.encode.check import check
from gpu_renderer.errors import RenderError
from gpu_renderer.session import Output, RenderSession
from motion import template
from motion.errors import DocumentError


class LocalRenderer:
    """Columns that are no inputs are left alone, so that they can name files."""

    def __init__(self, arguments: argparse.Namespace, output: Mapping[str, int]) -> None:
        self._document = read_local(Path(arguments.template))
        self._folder = arguments.media
        self._machine = arguments.machine
        self._output = Output(width=output.get("width"), height=output.get("height"), fps=output.get("fps"))
        self._inputs = {field.id: field for field in fields_of(self._document)}
        self._stack = ExitStack()
        self.identity = hashlib.sha256(json.dumps([self._document, dict(output)]).encode()).hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def faults(self, rows: Sequence[Row]) -> list[str]:
        """What is wrong with each row."""
        if not self._inputs.keys() & {name for row in rows for name in row.cells}:
            return [f"no column is an input; the document offers {', '.join(sorted(self._inputs)) or 'none'}"]
        found = []
        for row in rows:
            try:
                document = with_inputs(self._document, self._values(row), LocalMedia(self._folder))
                found += self._value_faults(row, document is not None)
            except DocumentError as error:
                found += [f"line {row.number}: {line}" for line in error.message.splitlines()]
        return found

    def render(self, rows: Sequence[Row]) -> Iterator[tuple[Row, str | None]]:
        """Each row when its video is there, or with why it is not."""
        if not rows:
            return
        session = self._stack.enter_context(RenderSession(options.default_session_options(self._machine())))
        for row in rows:
            try:
                self._write(session, row)
                yield row, None
            except (DocumentError, RenderError, OSError) as error:
                yield row, str(error)

    def _values(self, row: Row) -> dict[str, str]:
        return {name: value for name, value in row.cells.items() if name in self._inputs}

    def _value_faults(self, row: Row, readable: bool) -> list[str]:
        colors = {name: value for name, value in self._values(row).items() if self._inputs[name].kind == "color"}
        fields = [self._inputs[name] for name in colors]
        return [f"line {row.number}: {fault.field} {fault.message}" for fault in template.validate(fields, colors)]

    def _write(self, session: RenderSession, row: Row) -> None:
        if row.path.suffix.lower() != ".mp4":
            raise InputRefused(f"{row.path}: only .mp4 can be written")
        media = LocalMedia(self._folder)
        document = with_inputs(self._document, self._values(row), media)
        row.path.parent.mkdir(parents=True, exist_ok=True)
        with (
            session.open(document, self._output, media.resolve) as opened,
            tempfile.TemporaryDirectory(prefix=".render-", dir=row.path.parent) as folder,
        ):
            segment, finished = Path(folder) / "segment.mp4", Path(folder) / "finished.mp4"
            session.render_segment(opened, 0, opened.frame_count, segment)
            assemble([segment], finished, opened.fps)
            check(finished, frame_count=opened.frame_count, width=opened.width, height=opened.height, fps=opened.fps)
            finished.replace(row.path)
