"""A scheduler's list of actors: each actor is queried independently."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ray.exceptions import OutOfMemoryError

from cluster import ray_workers
from cluster.ray_cluster import RayCluster
from cluster.ray_workers import RayWorkers
from cluster.worker.render_actor import ActorReport
from farm_core.settings import Settings
from scheduler.report_queue import ReportQueue
from tests.patience import HANG_SECONDS

REPORT = ActorReport("r", "none", "none", 0, 0)


class Cluster:
    """Node with two slots. The first one's actor starts, and answers no question."""

    async def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "NodeID": "node", "Resources": {"CPU": 2.0}}]

    async def actor(self, slot: Any) -> Any:
        async def answer() -> ActorReport:
            return REPORT

        async def silence() -> None:
            await asyncio.Event().wait()

        report = silence if slot.name.endswith("-0") else answer
        return SimpleNamespace(describe=SimpleNamespace(remote=answer), report=SimpleNamespace(remote=report))


async def test_an_actor_that_does_not_answer_keeps_no_other_from_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_workers, "ANSWER_SECONDS", 2 * HANG_SECONDS)

    gone = asyncio.Event()
    workers = RayWorkers(Settings(workers=2), cast(RayCluster, Cluster()), ReportQueue(), gone)
    await workers.start()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while len(list(workers)) < 2:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
        silent, prompt = sorted(workers, key=lambda worker: worker.slot.name)
        began = silent.state.answered_at
        async with asyncio.timeout(HANG_SECONDS):
            for _ in range(3):
                answered_at = prompt.state.answered_at
                while prompt.state.answered_at == answered_at:  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.01)
        assert silent.state.answered_at == began
    finally:
        await workers.close()


class Slow(Cluster):
    """Node whose actors start when they may. `started` has the names of their slots."""

    def __init__(self, cores: float) -> None:
        self.cores, self.started, self.may_start = cores, list[str](), asyncio.Event()

    async def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "NodeID": "node", "Resources": {"CPU": self.cores}}]

    async def actor(self, slot: Any) -> Any:
        self.started.append(slot.name)

        async def describe() -> ActorReport:
            await self.may_start.wait()
            return REPORT

        return SimpleNamespace(describe=SimpleNamespace(remote=describe), report=SimpleNamespace(remote=describe))


@pytest.mark.parametrize(("cores", "first"), [(2, 1), (16, 16)])
async def test_the_first_worker_of_a_node_with_few_cores_starts_alone(cores: int, first: int) -> None:
    cluster = Slow(cores)
    workers = RayWorkers(Settings(), cast(RayCluster, cluster), ReportQueue(), asyncio.Event())
    await workers.start()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while len(cluster.started) < first:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(cluster.started) == first
        cluster.may_start.set()
        async with asyncio.timeout(HANG_SECONDS):
            while len(list(workers)) < cores:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
    finally:
        await workers.close()


class ShortOfMemory(Cluster):
    """Node with one slot. Ray ends its first actor because the machine is short of memory."""

    def __init__(self) -> None:
        self.started = 0

    async def actor(self, slot: Any) -> Any:
        self.started += 1
        is_first = self.started == 1

        async def describe() -> ActorReport:
            return REPORT

        async def report() -> ActorReport:
            if is_first:
                raise OutOfMemoryError("1 worker(s) were killed due to the node running low on memory.")
            return REPORT

        return SimpleNamespace(describe=SimpleNamespace(remote=describe), report=SimpleNamespace(remote=report))


async def test_an_actor_that_ray_ends_for_its_memory_is_replaced() -> None:
    cluster = ShortOfMemory()
    workers = RayWorkers(Settings(workers=1), cast(RayCluster, cluster), ReportQueue(), asyncio.Event())
    await workers.start()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while cluster.started < 2 or not list(workers):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.01)
    finally:
        await workers.close()
