"""Drain, resume, restart and quarantine one worker or all workers of a node. Workers finish their current segments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.audit.log import Actor, record
from farm_core.controls.errors import NoSuchTarget
from farm_core.jobs.control_models import DrainedNode
from farm_core.jobs.models import Worker
from farm_core.jobs.repository import notify
from farm_core.jobs.workers import LIVE_SECONDS


@dataclass(frozen=True, slots=True)
class WorkerTarget:
    """One worker, or all workers of a node: exactly one of both is set."""

    worker: str | None = None
    node: str | None = None

    def __post_init__(self) -> None:
        if (self.worker is None) == (self.node is None):
            raise ValueError("name a worker or a node")

    def __str__(self) -> str:
        return f"worker {self.worker}" if self.worker is not None else f"node {self.node}"

    @property
    def condition(self) -> ColumnElement[bool]:
        """Return the SQL condition that selects the rows of `workers`."""
        return col(Worker.id) == self.worker if self.worker is not None else col(Worker.node) == self.node


def state_of(worker: Worker, now: datetime, nodes: Collection[str]) -> str:
    """Return the most important state in one word. `nodes` are drained nodes, which includes their future workers."""
    if worker.seen_at <= now - timedelta(seconds=LIVE_SECONDS):
        return "gone"
    if worker.quarantined_until is not None and worker.quarantined_until > now:
        return "quarantined"
    if worker.restart_requested_at is not None:
        return "restarting"
    return "drained" if worker.drained_at is not None or worker.node in nodes else "live"


async def drain(session: AsyncSession, actor: Actor, target: WorkerTarget) -> Sequence[str]:
    """Give the workers no new work; return their ids. On a drained node, workers that start later get no work either.

    Raises NoSuchTarget.
    """
    workers = await _chosen(session, target)
    if target.node is not None:
        await session.execute(
            insert(DrainedNode).values(node=target.node, drained_at=func.now()).on_conflict_do_nothing()
        )
    await _set(session, workers, drained_at=func.coalesce(col(Worker.drained_at), func.now()))
    await record(session, actor, "drain", str(target), {"workers": list(workers)})
    return workers


async def resume(session: AsyncSession, actor: Actor, target: WorkerTarget) -> Sequence[str]:
    """Give the workers work again. This ends a drain, a requested restart, and a quarantine. Raises NoSuchTarget."""
    workers = await _chosen(session, target)
    if target.node is not None:
        await session.execute(delete(DrainedNode).where(col(DrainedNode.node) == target.node))
    await _set(session, workers, drained_at=None, restart_requested_at=None, quarantined_until=None, failures=0)
    await record(session, actor, "resume", str(target), {"workers": list(workers)})
    await notify(session, "tasks", "")
    return workers


async def restart(session: AsyncSession, actor: Actor, target: WorkerTarget) -> Sequence[str]:
    """Request a restart of each worker as soon as it has finished its tasks. Raises NoSuchTarget."""
    workers = await _chosen(session, target)
    await _set(session, workers, restart_requested_at=func.coalesce(col(Worker.restart_requested_at), func.now()))
    await record(session, actor, "restart", str(target), {"workers": list(workers)})
    return workers


async def quarantine(
    session: AsyncSession, actor: Actor, target: WorkerTarget, now: datetime, duration: timedelta
) -> Sequence[str]:
    """Give the workers no new work until `now + duration`. Raises NoSuchTarget."""
    workers = await _chosen(session, target)
    await _set(session, workers, quarantined_until=now + duration)
    detail = {"workers": list(workers), "seconds": duration.total_seconds()}
    await record(session, actor, "quarantine", str(target), detail)
    return workers


async def drained_nodes(session: AsyncSession) -> Sequence[str]:
    """Return the drained nodes."""
    return list(await session.scalars(select(col(DrainedNode.node)).order_by(col(DrainedNode.node))))


async def _chosen(session: AsyncSession, target: WorkerTarget) -> Sequence[str]:
    """Return the worker ids, sorted, with their rows locked in that order."""
    chosen = select(col(Worker.id)).where(target.condition).order_by(col(Worker.id)).with_for_update(key_share=True)
    workers = list(await session.scalars(chosen))
    if not workers and target.node not in await drained_nodes(session):
        raise NoSuchTarget(f"There is no {target}; `./farm workers` lists those that there are.")
    return workers


async def _set(session: AsyncSession, workers: Sequence[str], **values: object) -> None:
    await session.execute(
        update(Worker).where(col(Worker.id).in_(workers)).values(**values).execution_options(synchronize_session=False)
    )
