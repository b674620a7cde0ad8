"""Progress bars of commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress

from farm_core.long_steps import reporting


@contextmanager
def shown(bar: Progress) -> Iterator[None]:
    """Show the bar while the block runs. On an output that is no terminal, print it as lines."""
    if bar.console.is_terminal:
        with bar:
            yield
    else:
        with bar, reporting(lambda _seconds: bar.console.print(bar.get_renderable())):
            yield
