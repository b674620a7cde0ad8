"""Display of tables: once, or with `--watch` every second until interrupted."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from farm_core.terminal import harmless

WATCH_SECONDS: Final = 1.0
PIPE_WIDTH: Final = 240
"""Characters of a line where output is no terminal: identifiers stay whole for whoever searches them."""


class PlainConsole(Console):
    """Console that shows texts of accounts as they are: no markup, and a mark in place of characters that command a terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text to show."""
        return super().render_str(harmless(text), **options)


def add_watch_argument(parser: argparse.ArgumentParser) -> None:
    """`--watch`."""
    parser.add_argument("--watch", action="store_true", help="show it again every second, until interrupted")


def console() -> Console:
    """Return the console of this process."""
    found = PlainConsole(markup=False, emoji=False)
    return found if found.is_terminal else PlainConsole(markup=False, emoji=False, width=PIPE_WIDTH)


async def show(picture: Callable[[], Awaitable[RenderableType]], *, watch: bool) -> None:
    """Print what `picture` gives; with `watch` again every second, in its place on a terminal."""
    out = console()
    if not watch:
        out.print(await picture())
        return
    with contextlib.suppress(asyncio.CancelledError):
        if out.is_terminal:
            await _in_place(out, picture)
        while not _is_interrupted():
            out.print(await picture())
            await asyncio.sleep(WATCH_SECONDS)


def _is_interrupted() -> bool:
    """Return True after Ctrl-C. Python 3.11's `wait_for` drops a cancellation that comes with its result; the task counts it all the same."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _in_place(out: Console, picture: Callable[[], Awaitable[RenderableType]]) -> None:
    with Live(console=out, auto_refresh=False) as live:
        while not _is_interrupted():
            live.update(await picture(), refresh=True)
            await asyncio.sleep(WATCH_SECONDS)


def span(seconds: float | None) -> str:
    """A length of time as people say it; empty where unknown."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min {whole % 60:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
