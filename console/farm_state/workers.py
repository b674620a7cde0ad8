"""List of workers for pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.controls.workers import drained_nodes, state_of
from farm_core.jobs.models import Job, Task, Worker
from farm_core.jobs.status import TaskStatus

STATE_WORDS = {
    "live": "takes work", "busy": "renders", "drained": "drained: finishes what it holds and takes nothing new",
    "quarantined": "rests after failures", "restarting": "restarts when it is idle", "gone": "no scheduler sees it",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownWorker:
    """A worker, its state, and its tasks with their jobs. The first task is running."""

    worker: Worker
    state: str
    tasks: Sequence[tuple[Task, Job]]


async def workers(session: AsyncSession, now: datetime) -> list[ShownWorker]:
    """Return all known workers by node and id. Dead workers come last in their node."""
    rows = list(await session.scalars(select(Worker).order_by(col(Worker.node), col(Worker.id))))
    leased = select(Task, Job).join(Job, col(Job.id) == col(Task.job_id)).where(col(Task.status) == TaskStatus.leased)
    found: dict[str, list[tuple[Task, Job]]] = {}
    for task, job in (await session.execute(leased.order_by(col(Task.created_at), col(Task.index)))).all():
        found.setdefault(task.worker or "", []).append((task, job))
    nodes = frozenset(await drained_nodes(session))
    shown = [ShownWorker(one, _state(one, now, nodes, found.get(one.id)), found.get(one.id, [])) for one in rows]
    return sorted(shown, key=lambda one: (one.worker.node, one.state == "gone"))


def _state(worker: Worker, now: datetime, nodes: Collection[str], tasks: Collection[object] | None) -> str:
    """Return the state in one word. A live worker with tasks is busy."""
    state = state_of(worker, now, nodes)
    return "busy" if state == "live" and tasks else state


def counts(shown: Sequence[ShownWorker]) -> Mapping[str, int]:
    """Return the number of workers in each state."""
    totals: dict[str, int] = {}
    for one in shown:
        totals[one.state] = totals.get(one.state, 0) + 1
    return totals
