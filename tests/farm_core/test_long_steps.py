"""A command that works is never silent for long, also where its output is no terminal."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console
from rich.progress import Progress

from farm_core import long_steps
from farm_core.cli.progress_bar import shown
from farm_core.long_steps import reporting
from tests.patience import HANG_SECONDS


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_steps, "SILENT_SECONDS", 0.01)


class Lines(io.StringIO):
    """Output that counts its lines."""

    def __init__(self) -> None:
        super().__init__()
        self.printed = threading.Semaphore(0)

    def write(self, text: str) -> int:
        for _ in range(text.count("\n")):
            self.printed.release()
        return super().write(text)


def test_a_long_step_is_reported_again_and_again() -> None:
    reported = threading.Semaphore(0)
    seconds: list[float] = []

    def report(so_far: float) -> None:
        seconds.append(so_far)
        reported.release()

    with reporting(report):
        assert reported.acquire(timeout=HANG_SECONDS) and reported.acquire(timeout=HANG_SECONDS)
    assert seconds == sorted(seconds)
    assert seconds[0] > 0


def test_a_bar_outside_a_terminal_is_printed_while_the_work_stands_still() -> None:
    output = Lines()
    bar = Progress(console=Console(file=output, width=80))
    bar.add_task("rendering", total=100, completed=40)
    with shown(bar):
        assert output.printed.acquire(timeout=HANG_SECONDS) and output.printed.acquire(timeout=HANG_SECONDS)
    assert output.getvalue().count("rendering") >= 2
    assert " 40% " in output.getvalue()
