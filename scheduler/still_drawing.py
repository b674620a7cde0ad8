"""Draw stills on workers: choose a worker, retry, and restart a worker that a still blocks."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from farm_core.jobs.judge import Failure, FailureKind
from farm_core.lru_dict import LruDict
from farm_core.telemetry import logs
from scheduler.isolation import learning, rules
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.state import Trust, View
from scheduler.ports import DrawnStill, StillAssignment, WorkerState

_log = logs.logger(__name__)

WARM_MAX: Final = 1024
POLL_SECONDS: Final = 1.0
FRAME_SECONDS_MAX: Final = 20.0
"""Maximum duration of one frame of a still. Beyond it the worker is restarted, because a frame cannot be interrupted."""

SILENT_SECONDS: Final = 5.0
"""Time after which a worker that does not answer counts as blocked. The scheduler asks every second. A blocked worker
cannot name its still: it is the one that was sent first, because stills go before segments. Checks are counted, so
that a scheduler that was itself suspended blames no worker."""

TOO_SLOW: Final = Failure(FailureKind.document, f"A frame of the still takes longer than {FRAME_SECONDS_MAX:.0f} s.")


class NoWorker(Exception):
    """No worker is left that can draw."""


class StillDrawing:
    """Stills of this scheduler that are on workers."""

    def __init__(self, isolation: Isolation) -> None:
        self.dependencies = isolation.dependencies
        self.isolation = isolation
        self._sent: dict[str, list[StillAssignment]] = {}
        """Stills by worker, in the order in which they were sent."""
        self._warm: LruDict[str, str] = LruDict(WARM_MAX)
        """Worker that last drew a document, by the document's key."""

    def trust(self, account_id: str) -> Trust:
        """Return how well the frames of the account's stills are known."""
        return rules.still_trust(self.isolation.evidence, time.monotonic(), account_id)

    async def draw(self, assignment: StillAssignment) -> DrawnStill:
        """Draw on the best worker. If that worker is lost, try once more, if possible on another one. Raises NoWorker.

        If a frame blocks its worker, the still fails as TOO_SLOW, and the worker is restarted.
        """
        deadline = time.monotonic() + assignment.seconds_max
        worker_id = await self._worker(assignment, None, deadline)
        drawn = await self._draw_at(assignment, worker_id)
        if drawn.failure is not None and drawn.failure.kind is FailureKind.lost:
            worker_id = await self._worker(assignment, worker_id, deadline)
            left = max(0.0, deadline - time.monotonic())
            drawn = await self._draw_at(replace(assignment, seconds_max=left), worker_id)
        if drawn.failure is None:
            self._remember(assignment.account_id, drawn.frame_seconds)
        self._warm[assignment.document_key] = worker_id
        return drawn

    async def _draw_at(self, assignment: StillAssignment, worker_id: str) -> DrawnStill:
        with self._at_worker(assignment, worker_id) as sent:
            drawing = asyncio.ensure_future(self.dependencies.executor.still(assignment, worker_id))
            try:
                return await self._watched(assignment, worker_id, drawing, sent)
            finally:
                drawing.cancel()

    @contextmanager
    def _at_worker(self, assignment: StillAssignment, worker_id: str) -> Iterator[list[StillAssignment]]:
        """List the still at its worker during the block. Yield all that this scheduler has sent there."""
        sent, unproven = self._sent.setdefault(worker_id, []), self.isolation.unproven_stills
        is_unproven = self.trust(assignment.account_id) is not Trust.quick
        sent.append(assignment)
        unproven[worker_id] += is_unproven
        try:
            yield sent
        finally:
            sent.remove(assignment)
            if not sent:
                del self._sent[worker_id]
            unproven[worker_id] -= is_unproven
            if not unproven[worker_id]:
                del unproven[worker_id]

    async def _watched(
        self,
        assignment: StillAssignment,
        worker_id: str,
        drawing: asyncio.Future[DrawnStill],
        sent: list[StillAssignment],
    ) -> DrawnStill:
        """Wait for the still. Restart the worker if a frame of the still takes too long."""
        silent_polls = 0
        while True:
            done, _ = await asyncio.wait({drawing}, timeout=POLL_SECONDS)
            if done:
                return drawing.result()
            state = self._state(worker_id)
            if state is None:
                continue
            is_silent = time.monotonic() - state.answered_at > SILENT_SECONDS
            silent_polls = silent_polls + 1 if is_silent and sent[0] is assignment else 0
            seconds = SILENT_SECONDS if silent_polls else _frame_seconds(state) * (state.active == assignment.id)
            if seconds > rules.STILL_SLOW_SECONDS:
                self._remember(assignment.account_id, seconds)
            if seconds > FRAME_SECONDS_MAX or silent_polls * POLL_SECONDS > FRAME_SECONDS_MAX - SILENT_SECONDS:
                about = {"worker": worker_id, "still": assignment.id, "account": assignment.account_id}
                _log.warning("worker blocked by a still", **about)
                self.dependencies.executor.restart(worker_id, is_blameless=True)
                return DrawnStill(failure=TOO_SLOW)

    def _remember(self, account_id: str, frame_seconds: float) -> None:
        now, isolation = time.monotonic(), self.isolation
        isolation.evidence = learning.with_still(isolation.evidence, now, account_id, frame_seconds)

    def _state(self, worker_id: str) -> WorkerState | None:
        return next((worker for worker in self.dependencies.executor.workers() if worker.id == worker_id), None)

    async def _worker(self, assignment: StillAssignment, lost: str | None, deadline: float) -> str:
        """Return the best worker that the account's stills can use. Wait for one that restarts, and at least POLL_SECONDS before the `lost`
        one is used again. Raises NoWorker."""
        while (view := self.isolation.view()).workers:
            usable = rules.still_workers(self.isolation.evidence, view, self.trust(assignment.account_id))
            if others := [worker for worker in usable if worker.id != lost]:
                return self._best(assignment.document_key, others, view)
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(POLL_SECONDS)
            lost = None
        raise NoWorker

    def _best(self, document_key: str, states: Sequence[WorkerState], view: View) -> str:
        blocked = {worker.id for worker in states if rules.is_blocked(view, worker)}
        loads = Counter({worker_id: len(sent) for worker_id, sent in self._sent.items()})
        busy = self.isolation.running_tasks.busy_workers()
        return best_worker([one.id for one in states], busy, loads, self._warm.get(document_key), blocked)


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
