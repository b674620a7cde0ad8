"""Progress bar of backup and restore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from cluster.backups.writer import Progress as Advance
from farm_core.cli.progress_bar import shown


@contextmanager
def progress_bar(title: str) -> Iterator[Advance]:
    """Show a progress bar on standard error. Yield a function that takes bytes done and total bytes."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(title, total=None)
    with shown(bar):
        yield lambda done, total: bar.update(task, completed=done, total=total)
