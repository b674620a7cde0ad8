"""Live count in place of dots: finished tests, failures, elapsed time and remaining time.

A terminal shows one line that is updated. Other outputs get a line for each finished file, with its seconds, and the
count every ten seconds. Each failure is printed at once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TextIO

from tests.runner import durations

CLEAR: Final = "\r\x1b[K"
ESTIMATE_AFTER_SECONDS: Final = 2
"""The remaining time is hidden before this: the first tests say little about the speed of the machine."""


class Progress:
    """Count of one run. `recorded` are seconds by node id of earlier runs; `width` is the terminal's, or None for a
    file."""

    def __init__(
        self,
        out: TextIO,
        recorded: Mapping[str, float],
        *,
        width: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out, self._width, self._clock, self._recorded = out, width, clock, recorded
        self._began = clock()
        self._open: dict[str, float] = {}
        """Expected seconds of each unfinished test."""
        self._open_of_file: Counter[str] = Counter()
        self._total = self._failed = 0
        self._expected = self._expected_left = 0.0
        self.took: dict[str, float] = {}
        """Seconds of each test in this run."""

    def collected(self, names: Sequence[str]) -> None:
        """Start counting these tests. A test without a record is expected to take the average time."""
        known = [self._recorded[name] for name in names if name in self._recorded]
        average = sum(known) / len(known) if known else 0.0
        self._open = {name: self._recorded.get(name, average) for name in names}
        self._expected = self._expected_left = sum(self._open.values())
        self._open_of_file = Counter(map(durations.file_of, names))
        self._total = len(names)
        self._began = self._clock()

    def reported(self, name: str, seconds: float, *, failed: bool) -> None:
        """Add one phase of a test: set-up, call or tear-down."""
        self.took[name] = self.took.get(name, 0.0) + seconds
        if failed:
            self._failed += 1
            self._line(f"FAILED {name}")

    def finished(self, name: str) -> None:
        """Count a test after all its phases."""
        if name not in self._open:
            return
        self._expected_left -= self._open.pop(name)
        file = durations.file_of(name)
        self._open_of_file[file] -= 1
        if self._width is not None:
            self._update(f"{self.count()}  {file}", self._width)
        elif self._open_of_file[file] == 0:
            self._line(f"{self.count()}  {file} {durations.by_file(self.took)[file]:.1f} s")

    def still(self) -> None:
        """Show that the run goes on."""
        text = self.count() if self._total else f"collecting tests  {_minutes(self._clock() - self._began)}"
        if self._width is not None:
            self._update(text, self._width)
        else:
            self._line(text)

    def count(self) -> str:
        """Return the count: finished tests, failures, elapsed time and, if durations are recorded, remaining time."""
        done, spent = self._total - len(self._open), self._clock() - self._began
        words = [f"[{done:>{len(str(self._total))}}/{self._total}]"]
        words += [f"{self._failed} failed"] if self._failed else []
        words += [_minutes(spent)]
        expected_spent = self._expected - self._expected_left
        if self._open and expected_spent > 0 and spent >= ESTIMATE_AFTER_SECONDS:
            words.append(f"about {_minutes(spent * self._expected_left / expected_spent)} left")
        return "  ".join(words)

    def end(self) -> None:
        """Clear the terminal's line for the summary."""
        if self._width is not None:
            self._out.write(CLEAR)

    def _update(self, text: str, width: int) -> None:
        self._out.write(CLEAR + text[: width - 1])
        self._out.flush()

    def _line(self, text: str) -> None:
        self._out.write(f"{CLEAR if self._width is not None else ''}{text}\n")
        self._out.flush()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
