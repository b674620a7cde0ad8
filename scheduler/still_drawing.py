"""Draw stills on workers: choose a worker, retry, and restart a worker that a still blocks."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from farm_core.jobs.judge import Failure, FailureKind
from farm_core.lru_dict import LruDict
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.ports import DrawnStill, StillAssignment, WorkerState
from scheduler.running_tasks import RunningTasks

_log = logs.logger(__name__)

WARM_MAX: Final = 1024
POLL_SECONDS: Final = 1.0
FRAME_SECONDS_MAX: Final = 20.0
"""Maximum duration of one frame of a still. Beyond it the worker is restarted, because a frame cannot be interrupted."""

SLOW_SECONDS: Final = 3.0
"""Duration of a frame from which its account's stills are slow, and from which other stills avoid its worker."""

SLOW_REMEMBERED_SECONDS: Final = 600.0

SILENT_SECONDS: Final = 5.0
"""Time after which a worker that does not answer counts as blocked. The scheduler asks every second. A blocked worker
cannot name its still: it is the one that was sent first, because stills go before segments. Checks are counted, so
that a scheduler that was itself suspended blames no worker."""

TOO_SLOW: Final = Failure(FailureKind.document, f"A frame of the still takes longer than {FRAME_SECONDS_MAX:.0f} s.")


class NoWorker(Exception):
    """No worker is left that can draw."""


class StillDrawing:
    """Stills of this scheduler that are on workers."""

    def __init__(self, dependencies: Dependencies, running_tasks: RunningTasks) -> None:
        self.dependencies = dependencies
        self._running_tasks = running_tasks
        self._sent: dict[str, list[StillAssignment]] = {}
        """Stills by worker, in the order in which they were sent."""
        self._warm: LruDict[str, str] = LruDict(WARM_MAX)
        """Worker that last drew a document, by the document's key."""
        self._slow_until: dict[str, float] = {}
        """End of the time in which an account's stills are slow (`time.monotonic`)."""

    def slow_accounts(self) -> frozenset[str]:
        """Return the accounts of which a frame of a still was slow in the last SLOW_REMEMBERED_SECONDS."""
        now = time.monotonic()
        self._slow_until = {account: until for account, until in self._slow_until.items() if until > now}
        return frozenset(self._slow_until)

    async def draw(self, assignment: StillAssignment) -> DrawnStill:
        """Draw on the best worker. If that worker is lost, try another one once. Raises NoWorker.

        If a frame blocks its worker, the still fails as TOO_SLOW, and the worker is restarted.
        """
        lost: set[str] = set()
        while True:
            worker_id = self._worker(assignment.document_key, lost)
            drawn = await self._draw_at(assignment, worker_id)
            failed = drawn.failure is not None and drawn.failure.kind is FailureKind.lost
            if not failed or lost:
                self._warm[assignment.document_key] = worker_id
                return drawn
            lost.add(worker_id)

    async def _draw_at(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        sent = self._sent.setdefault(worker_id, [])
        sent.append(assignment)
        drawing = asyncio.ensure_future(self.dependencies.executor.still(assignment, worker_id))
        silent_polls = 0
        try:
            while True:
                done, _ = await asyncio.wait({drawing}, timeout=POLL_SECONDS)
                if done:
                    return drawing.result()
                state = self._state(worker_id)
                if state is None:
                    continue
                is_silent = time.monotonic() - state.answered_at > SILENT_SECONDS
                silent_polls = silent_polls + 1 if is_silent and sent[0] is assignment else 0
                if silent_polls or (state.active == assignment.id and _frame_seconds(state) > SLOW_SECONDS):
                    self._slow_until[assignment.account_id] = time.monotonic() + SLOW_REMEMBERED_SECONDS
                if _blocks(assignment, state) or silent_polls * POLL_SECONDS > FRAME_SECONDS_MAX - SILENT_SECONDS:
                    _log.warning(
                        "worker blocked by a still",
                        worker=worker_id,
                        still=assignment.id,
                        account=assignment.account_id,
                    )
                    self.dependencies.executor.restart(worker_id, is_blameless=True)
                    return DrawnStill(failure=TOO_SLOW)
        finally:
            drawing.cancel()
            sent.remove(assignment)
            if not sent:
                del self._sent[worker_id]

    def _state(self, worker_id: str) -> WorkerState | None:
        return next((worker for worker in self.dependencies.executor.workers() if worker.id == worker_id), None)

    def _worker(self, document_key: str, lost: set[str]) -> str:
        states = [worker for worker in self.dependencies.executor.workers() if worker.id not in lost]
        living = [worker.id for worker in states]
        if not living:
            raise NoWorker
        blocked = {
            worker.id for worker in states if worker.active is not None and _frame_seconds(worker) > SLOW_SECONDS
        }
        loads = Counter({worker_id: len(sent) for worker_id, sent in self._sent.items()})
        return best_worker(living, self._running_tasks.busy_workers(), loads, self._warm.get(document_key), blocked)


def _blocks(assignment: StillAssignment, state: WorkerState) -> bool:
    """Return True if the worker reports that it draws one frame of the still for too long."""
    return state.active == assignment.id and _frame_seconds(state) > FRAME_SECONDS_MAX


def _frame_seconds(state: WorkerState) -> float:
    """Return how long the worker had drawn its active frame when it last answered."""
    return state.answered_at - state.progressed_at


def best_worker(
    living: Sequence[str],
    rendering: set[str],
    loads: Mapping[str, int],
    warm: str | None,
    blocked: Collection[str] = frozenset(),
) -> str:
    """Return the worker for the next still.

    Prefer workers that no slow frame blocks, then with the fewest waiting stills, then with the document open, then idle ones.
    """
    return min(
        living,
        key=lambda worker: (worker in blocked, loads.get(worker, 0), worker != warm, worker in rendering, worker),
    )
