"""Generate the pages of `docs/` that describe the code.

`python -m farm_core.generated_docs` writes them; a test compares them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic_core import PydanticUndefined

from farm_core import errors
from farm_core.settings import ROOT, Settings

DOCS: Final = ROOT / "docs"


def settings_page() -> str:
    """Return the page with every setting, its default and its meaning."""
    lines = [
        "# Settings", "",
        "Settings are environment variables, or lines `NAME=value` of a file `.env` in the folder where a command is started. "
        "Environment variables win. This page is generated from `farm_core/settings.py`.", "",
        "| Variable | Default | Meaning |", "|---|---|---|",
    ]  # fmt: skip
    for name, field in Settings.model_fields.items():
        lines.append(f"| `{name.upper()}` | {_shown(field.default)} | {field.description} |")
    return "\n".join(lines) + "\n"


_OTHER_STATUSES: Final = {
    405: "The route does not have this method. `Allow` lists its methods.",
    408: "The request took too long to arrive.",
    416: "The `Range` of a file begins after its end.",
    431: "The request line and headers are longer than 32 KiB, or there are more than 100 headers.",
    500: "A fault of the farm. The operator finds it in the logs by the `requestId`.",
}
"""Statuses of failures without a class in `farm_core.errors`."""


def errors_page() -> str:
    """Return the page with every error that has its own class."""
    lines = [
        "# Errors", "",
        "The body of every failure has `statusCode`, `message`, `error`, `requestId` and `path`. Some have a `code`, `detail`, "
        "and the fields that the table names. Branch on `statusCode` and `code`; `message` is for people and can change.", "",
        "Retry 429 and 5xx only, with the same `Idempotency-Key`. The operator finds "
        "the `requestId` in the logs.", "",
        "| Status | Code | Meaning |", "|---|---|---|",
    ]  # fmt: skip
    for error in sorted(_kinds(errors.FarmError), key=lambda kind: (kind.status, kind.code or "", kind.__name__)):
        code = f"`{error.code}`" if error.code else ""
        lines.append(f"| {error.status} | {code} | {(error.__doc__ or '').splitlines()[0]} |")
    lines += [
        "",
        "These have no `code`, and come before or outside the rules of a route:",
        "",
        "| Status | Meaning |",
        "|---|---|",
    ]
    lines += [f"| {status} | {meaning} |" for status, meaning in _OTHER_STATUSES.items()]
    return "\n".join(lines) + "\n"


PAGES: Final = {"settings.md": settings_page, "errors.md": errors_page}


def _kinds(base: type[errors.FarmError]) -> Iterator[type[errors.FarmError]]:
    for kind in base.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield kind
            yield from _kinds(kind)


def _shown(default: Any) -> str:
    if default is None or default is PydanticUndefined or default == "":
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def main(folder: Path = DOCS) -> int:
    """Write the pages."""
    for name, page in PAGES.items():
        (folder / name).write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
