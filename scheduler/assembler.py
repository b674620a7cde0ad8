"""Ends a job whose segments have been joined: the receipt, then the one transaction that completes it."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from farm_core.jobs import tasks
from farm_core.jobs.models import Job, Task
from farm_core.jobs.receipt import receipt
from farm_core.jobs.repository import transition
from farm_core.jobs.tasks import TaskResult
from scheduler.completion import completed
from scheduler.parts import Parts
from scheduler.ports import AssembleOrder, Finished


class Assembler:
    """Settles finished assemblies. The executor has checked the MP4 before it reported."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    async def settle(self, order: AssembleOrder, lease: str, report: Finished) -> None:
        """Writes the receipt beside the video and completes the job; does nothing where the lease no longer counts."""
        parts = self.parts
        async with parts.database.work() as session:
            paper = await self._receipt(session, order, report)
        receipt_key = order.video_key.removesuffix(".mp4") + ".json"
        await asyncio.to_thread(parts.storage.put_bytes, receipt_key, orjson.dumps(paper), "application/json")
        async with parts.database.work() as session:
            now = parts.clock.now()
            facts = {"seconds": report.seconds, "bytes": report.bytes, "sha256": report.sha256, "worker": report.worker}
            if not await tasks.finish_tasks(session, now, [TaskResult(lease, None, facts)]):
                return
            columns = await completed(session, parts, order.job_id, order.video_key, receipt_key)
            await transition(session, order.job_id, "complete", detail=facts, **columns)

    async def _receipt(self, session: AsyncSession, order: AssembleOrder, report: Finished) -> dict[str, Any]:
        job = (await session.execute(select(Job).where(col(Job.id) == order.job_id))).scalar_one()
        segments = await session.execute(
            select(Task).where(col(Task.job_id) == order.job_id, col(Task.kind) == "render").order_by(col(Task.index))
        )
        return receipt(job, list(segments.scalars()), report.segments_sha256, report.sha256, report.bytes)
