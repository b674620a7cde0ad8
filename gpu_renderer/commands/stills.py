"""Render many single frames in one process and one GL context.

Each line of CASES is a JSON object: {"document": PATH, "frame": N, "output": PATH.png, "width"?, "height"?, "fps"?, "comp"?,
"inputs"?: {ID: VALUE}, "media"?: DIR}. One JSON object a line comes back: {"output", "ms", "warnings"} or {"output", "error"}.
A case that fails does not stop the others; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from gpu_renderer.commands import options
from gpu_renderer.commands.local import LocalMedia, read_local, with_inputs
from gpu_renderer.errors import RenderError
from gpu_renderer.session import Opened, Output, RenderSession
from motion.errors import DocumentError


class CaseRefused(DocumentError):
    """A line that is no case."""


@dataclass(frozen=True, slots=True)
class Case:
    """One still: everything but the frame and the picture's path is what has to be opened."""

    document: Path
    frame_index: int
    picture: Path
    output: Output
    inputs: tuple[tuple[str, str], ...]
    media: Path | None

    @property
    def opens(self) -> tuple[object, ...]:
        """Return the key of the opened document that two cases can share."""
        return self.document, self.output, self.inputs, self.media


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file of cases."""
    parser.add_argument("cases", metavar="CASES.jsonl", type=Path, help="a case a line; - reads standard input")
    options.add_font_argument(parser, "reference")


def run(arguments: argparse.Namespace) -> int:
    """Draw every case; 0 when all succeeded."""
    text = sys.stdin.read() if str(arguments.cases) == "-" else arguments.cases.read_text("utf-8", "replace")
    failed = 0
    try:
        with RenderSession(options.default_session_options(arguments.machine(), arguments.fonts)) as session:
            for result in results(session, [line for line in text.splitlines() if line.strip()]):
                failed += "error" in result
                print(json.dumps(result), flush=True)
    except RenderError as error:
        print(f"stills: {error}", file=sys.stderr)
        return 1
    return 1 if failed else 0


def results(session: RenderSession, lines: list[str]) -> Iterator[dict[str, Any]]:
    """Draw a case a line, in order; neighbours of one document share what is opened."""
    held: tuple[tuple[object, ...], Opened] | None = None
    with ExitStack() as closing:
        for line in lines:
            started = time.perf_counter()
            output = ""
            try:
                case = read_case(line)
                output = str(case.picture)
                if held is None or held[0] != case.opens:
                    closing.close()
                    held = None
                    held = case.opens, closing.enter_context(_opened(session, case))
                yield {"output": output, "warnings": _drawn(session, held[1], case), "ms": _ms_since(started)}
            except Exception as error:  # the command's contract: a bad case, whatever is wrong with it, stops no other
                yield {"output": output, "error": _reason(error), "ms": _ms_since(started)}


def read_case(line: str) -> Case:
    """A case from its line. Raises CaseRefused with the key that is wrong."""
    try:
        stored = json.loads(line)
    except ValueError as error:
        raise CaseRefused(f"not a line of JSON: {error}") from error
    if not isinstance(stored, dict):
        raise CaseRefused("a case is an object")
    output = Output(
        width=_number(stored, "width", int, None),
        height=_number(stored, "height", int, None),
        fps=_number(stored, "fps", float, None),
        composition_id=_text(stored, "comp"),
    )
    inputs = stored.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise CaseRefused("inputs must be an object")
    media = _text(stored, "media")
    return Case(
        Path(_required(stored, "document")),
        _number(stored, "frame", int, 0),
        Path(_required(stored, "output")),
        output,
        tuple((str(name), str(value)) for name, value in inputs.items()),
        None if media is None else Path(media),
    )


def _opened(session: RenderSession, case: Case) -> Opened:
    media = LocalMedia(case.media)
    document = read_local(case.document)
    if case.inputs:
        document = with_inputs(document, dict(case.inputs), media, case.output.composition_id)
    return session.open(document, case.output, media.resolve)


def _drawn(session: RenderSession, opened: Opened, case: Case) -> list[str]:
    case.picture.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(session.still(opened, case.frame_index)).save(case.picture)
    return list(opened.warnings)


def _number(stored: dict[str, Any], key: str, kind: type[Any], default: Any) -> Any:
    value = stored.get(key, default)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or (kind is int and value != int(value)):
        raise CaseRefused(f"{key} must be a number, not {value!r}")
    if value < 0 or (key != "frame" and value == 0):
        raise CaseRefused(f"{key} must be above zero, not {value!r}")
    return kind(value)


def _text(stored: dict[str, Any], key: str) -> str | None:
    value = stored.get(key)
    if value is not None and not isinstance(value, str):
        raise CaseRefused(f"{key} must be a text, not {value!r}")
    return value


def _required(stored: dict[str, Any], key: str) -> str:
    value = _text(stored, key)
    if not value:
        raise CaseRefused(f"{key} is missing")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, DocumentError):
        return error.message
    return str(error) if isinstance(error, (RenderError, OSError)) else f"{type(error).__name__}: {error}"


def _ms_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
