"""Let assignments of several accounts take turns on one worker's thread, at frame boundaries.

Each assignment runs in its own greenlet. After its time slice, the running assignment pauses at the next frame boundary,
or step of an assembly, if another account waits. A paused assignment keeps its decoder, encoder and frames, so a pause
changes no bytes and loses no work. The account that has used the least time of this worker goes next. Within an account,
assignments run in order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from greenlet import greenlet

from cluster.worker.memory_watch import resident_bytes
from farm_core.jobs.judge import Failure, FailureKind
from scheduler.ports import Ended, Finished, SegmentAssignment, TaskAssignment

SLICE_SECONDS: Final = 1.0
"""Time slice of an assignment. It is much longer than the cost of a switch."""

PAUSED_MAX: Final = 4
"""Limit of paused assignments. Each keeps a document, an encoder and some frames in memory."""

Boundary = Callable[[], bool]
"""Callback between frames, on the worker's thread: `should_stop` of the runner. It pauses the assignment if another account's
turn has come, and returns True if the assignment must stop."""

Execute = Callable[[TaskAssignment, Boundary], Finished | Ended]


@dataclass(slots=True, eq=False)
class Entry:
    """An assignment on this worker. `seconds` is its running time without pauses, `grown_bytes` the growth of the process in that time."""

    assignment: TaskAssignment
    result: Future[Finished | Ended] = field(default_factory=Future)
    is_cancelled: bool = False
    seconds: float = 0.0
    grown_bytes: int = 0
    is_overdue: bool = False
    running: greenlet | None = None

    @property
    def account_id(self) -> str:
        """Return the account of the assignment's job."""
        return self.assignment.account_id

    @property
    def seconds_max(self) -> float:
        """Return the time limit in seconds."""
        limit = self.assignment.time_limit if isinstance(self.assignment, SegmentAssignment) else None
        return float("inf") if limit is None else limit.seconds


class Turns:
    """Run the entries of `arrivals` on the thread that calls `run_next`."""

    def __init__(
        self,
        execute: Execute,
        arrivals: Callable[[], Iterable[Entry]],
        *,
        may_pause: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        self._execute, self._arrivals, self._may_pause, self._clock = execute, arrivals, may_pause, clock
        self._entries: list[Entry] = []
        self._used: dict[str, float] = {}
        self._began = 0.0
        self._bytes_before = 0
        self.active: Entry | None = None
        """Entry that is being drawn."""
        self.moved = clock()
        """Time of the last finished frame or assignment, on the clock."""

    @property
    def is_idle(self) -> bool:
        """Return True if no entry runs, is paused, or waits."""
        return not self._entries

    def run_next(self) -> None:
        """Run one entry until it ends or pauses. Do nothing if there is no entry."""
        self._take_arrivals()
        if not self._entries:
            return
        entry = self._next()
        if entry.running is None:
            entry.running = greenlet(self._run)
        self._bytes_before = resident_bytes()
        self.active, self._began = entry, self._clock()
        entry.running.switch(entry)
        self._count(entry)
        self.active = None
        if entry.running.dead:
            self._entries.remove(entry)

    def leave_out(self, seconds: float, grown_bytes: int) -> None:
        """Subtract the time and memory of a still, drawn between two frames, from those of the running entry."""
        self._began += seconds
        self._bytes_before += grown_bytes

    def grown(self, still_bytes: int = 0) -> Iterator[tuple[Entry, int]]:
        """Yield each entry and the growth of the process in its turns, in bytes. Call this from any thread. `still_bytes`: growth because of
        the still that is being drawn."""
        now, active = resident_bytes() - self._bytes_before - still_bytes, self.active
        yield from ((entry, entry.grown_bytes + (now if entry is active else 0)) for entry in tuple(self._entries))

    def _run(self, entry: Entry) -> None:
        try:
            report = self._execute(entry.assignment, lambda: self._boundary(entry))
        except BaseException as error:
            entry.result.set_exception(error)
            return
        with suppress(InvalidStateError):  # `fail_active` may have set a result already
            entry.result.set_result(self._judged(entry, report))

    def _boundary(self, entry: Entry) -> bool:
        """Pause between two frames if it is another account's turn. Return True if the entry must stop."""
        self.moved = self._clock()
        if entry.is_cancelled:
            return True
        if entry.seconds + self._lasted() > entry.seconds_max:
            entry.is_overdue = True
            return True
        self._take_arrivals()
        if self._lasted() >= SLICE_SECONDS and self._gives_way(entry):
            assert entry.running is not None and entry.running.parent is not None
            entry.running.parent.switch()
        return entry.is_cancelled

    def _gives_way(self, entry: Entry) -> bool:
        if not self._may_pause():
            return False
        others = [other for other in self._entries if other.account_id != entry.account_id]
        begun = [other for other in others if other.running is not None]
        return bool(begun if len(begun) >= PAUSED_MAX else others)

    def _next(self) -> Entry:
        """Return the first entry of the account that has used the least time.

        Cancelled entries stop before all others.
        """
        first: dict[str, Entry] = {}
        for entry in self._entries:
            if entry.is_cancelled:
                return entry
            first.setdefault(entry.account_id, entry)
        begun = [entry for entry in first.values() if entry.running is not None]
        candidates = begun if len(begun) > PAUSED_MAX else list(first.values())
        return min(candidates, key=lambda entry: self._used.get(entry.account_id, 0.0))

    def _take_arrivals(self) -> None:
        """Take new entries. A new account starts with the least time that any present account has used."""
        for entry in self._arrivals():
            present = {other.account_id for other in self._entries}
            if entry.account_id not in present:
                least = min((self._used[account] for account in present if account in self._used), default=0.0)
                self._used[entry.account_id] = least
            self._entries.append(entry)
        present = {entry.account_id for entry in self._entries}
        self._used = {account: used for account, used in self._used.items() if account in present}

    def _count(self, entry: Entry) -> None:
        lasted = self._lasted()
        entry.seconds += lasted
        entry.grown_bytes += resident_bytes() - self._bytes_before
        self._used[entry.account_id] = self._used.get(entry.account_id, 0.0) + lasted
        self.moved = self._clock()

    def _lasted(self) -> float:
        return self._clock() - self._began

    def _judged(self, entry: Entry, report: Finished | Ended) -> Finished | Ended:
        """Replace the report of an entry that reached its time limit with a failure of the document."""
        assignment = entry.assignment
        if not (entry.is_overdue and isinstance(report, Ended) and isinstance(assignment, SegmentAssignment)):
            return report
        assert assignment.time_limit is not None, "only a limit can be exceeded"
        return Ended(assignment.token, Failure(FailureKind.document, assignment.time_limit.message))
