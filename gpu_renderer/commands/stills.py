"""Render many single frames in one process and one GL context.

Each line of CASES is a JSON object: {"document": PATH, "frame": N, "output": PATH.png, "width"?, "height"?, "fps"?, "comp"?,
"inputs"?: {ID: VALUE}, "media"?: DIR}. The command prints a JSON object for each case: {"output", "ms", "warnings"} or
{"output", "error"}. A case that fails does not stop the others; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt, ValidationError

from gpu_renderer.commands import options
from gpu_renderer.commands.local_job import LocalJob, OpenedJob
from gpu_renderer.errors import RenderError
from gpu_renderer.session import Output, RenderSession
from motion.errors import DocumentError


class CaseRefused(DocumentError):
    """A line is not a valid case."""


class Case(BaseModel, coerce_numbers_to_str=True):
    """A still to render."""

    document: Path
    output: Path
    frame: NonNegativeInt = 0
    width: PositiveInt | None = None
    height: PositiveInt | None = None
    fps: PositiveFloat | None = None
    comp: str | None = None
    inputs: dict[str, str] = Field(default_factory=dict)
    media: Path | None = None

    @property
    def job(self) -> LocalJob:
        """Return the local job of the case, without frame and output. Successive cases of a job share its open document."""
        output = Output(self.width, self.height, self.fps, self.comp)
        return LocalJob(self.document, inputs=tuple(self.inputs.items()), output=output, media=self.media)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file of cases."""
    parser.add_argument("cases", metavar="CASES.jsonl", type=Path, help="a case a line; - reads standard input")
    options.add_font_argument(parser, "reference")


def run(arguments: argparse.Namespace) -> int:
    """Draw every case. Return 0 if all succeeded."""
    text = sys.stdin.read() if str(arguments.cases) == "-" else arguments.cases.read_text("utf-8", "replace")
    failed = 0

    def draw_all() -> None:
        nonlocal failed
        with RenderSession(options.default_session_options(arguments.machine(), arguments.fonts)) as session:
            for result in results(session, [line for line in text.splitlines() if line.strip()]):
                failed += "error" in result
                print(json.dumps(result), flush=True)

    return options.status_of("stills", arguments.cases, draw_all) or min(failed, 1)


def results(session: RenderSession, lines: list[str]) -> Iterator[dict[str, Any]]:
    """Draw the case of each line in order. Yield its output and milliseconds with its warnings, or its error."""
    with closing(_LastJob(session)) as last:
        for line in lines:
            started, output = time.perf_counter(), _named_output(line)
            outcome: dict[str, Any]
            try:
                case = read_case(line)
                outcome = {"warnings": _draw(session, last.open(case.job), case)}
            except Exception as error:  # a failing case must not stop the other cases
                outcome = {"error": _reason(error)}
            yield {"output": output, **outcome, "ms": round((time.perf_counter() - started) * 1000, 1)}


class _LastJob:
    """Cache of the last opened job, whose document successive cases share."""

    def __init__(self, session: RenderSession) -> None:
        self._session = session
        self._opened_job: OpenedJob | None = None

    def open(self, job: LocalJob) -> OpenedJob:
        """Return the opened job. Close the previous one if it is another job."""
        if self._opened_job is None or self._opened_job.job != job:
            self.close()
            self._opened_job = job.open(self._session)
        return self._opened_job

    def close(self) -> None:
        """Close the open document."""
        if self._opened_job is not None:
            self._opened_job.opened.close()
            self._opened_job = None


def read_case(line: str) -> Case:
    """Parse a line into a case. Raises CaseRefused with the invalid keys."""
    try:
        return Case.model_validate_json(line)
    except ValidationError as error:
        faults = [": ".join((*map(str, fault["loc"]), fault["msg"])) for fault in error.errors()]
        raise CaseRefused("; ".join(faults)) from error


def _named_output(line: str) -> str:
    """Return the output path of a line, even of an invalid case, or an empty string."""
    try:
        output = json.loads(line)["output"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return str(Path(output)) if isinstance(output, str) else ""


def _draw(session: RenderSession, opened_job: OpenedJob, case: Case) -> list[str]:
    case.output.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(session.still(opened_job.opened, case.frame)).save(case.output)
    return list(opened_job.opened.warnings)


def _reason(error: Exception) -> str:
    if isinstance(error, DocumentError):
        return error.message
    return str(error) if isinstance(error, (RenderError, OSError)) else f"{type(error).__name__}: {error}"
