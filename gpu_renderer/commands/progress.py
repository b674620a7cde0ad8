"""Progress line of the commands that render: what is being done, frames, frames per second, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class RenderProgress:
    """A line on the standard error output while it is in a block, gone afterwards; none if `is_shown` is false."""

    def __init__(self, *, is_shown: bool = True) -> None:
        columns = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.completed}/{task.total} frames"), _Speed(), TimeRemainingColumn(),
        )  # fmt: skip
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True, disable=not is_shown)

    @contextmanager
    def stage(self, name: str, frame_count: int) -> Iterator[Callable[[int], None]]:
        """Show a stage of the render. Yields a function to call with the number of frames done."""
        with self._progress:
            task = self._progress.add_task(name, total=frame_count)
            try:
                yield lambda done: self._progress.update(task, completed=done)
            finally:
                self._progress.remove_task(task)


class _Speed(ProgressColumn):
    """Frames per second so far."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f} fps" if task.speed else "", style="progress.data.speed")
