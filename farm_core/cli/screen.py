"""Show tables once, or with `--watch` every second until interrupted."""

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
"""Line width in characters if the output is not a terminal. Identifiers then stay whole for searches."""


class PlainConsole(Console):
    """Console that prints texts of accounts literally: without markup, and with a mark in place of control
    characters."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text to show."""
        return super().render_str(harmless(text), **options)


def add_watch_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--watch`."""
    parser.add_argument("--watch", action="store_true", help="show it again every second, until interrupted")


def console() -> Console:
    """Return the console of this process."""
    found = PlainConsole(markup=False, emoji=False)
    return found if found.is_terminal else PlainConsole(markup=False, emoji=False, width=PIPE_WIDTH)


async def show(picture: Callable[[], Awaitable[RenderableType]], *, watch: bool) -> None:
    """Print the result of `picture`. With `watch`, print it again every second, in place on a terminal."""
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
    """Return True after Ctrl-C. Python 3.11's `wait_for` drops a cancellation that arrives with its result; the task
    still counts it."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _in_place(out: Console, picture: Callable[[], Awaitable[RenderableType]]) -> None:
    with Live(console=out, auto_refresh=False) as live:
        while not _is_interrupted():
            live.update(await picture(), refresh=True)
            await asyncio.sleep(WATCH_SECONDS)


def span(seconds: float | None) -> str:
    """Format a duration for people. Return an empty text if it is unknown."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min {whole % 60:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
