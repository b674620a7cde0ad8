"""Ray's dashboard shows each worker and its calls. A worker draws on its share of the machine's cores and holds no secret."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from cluster.local.ray_head import free_port
from cluster.ray_cluster import NAMESPACE
from cluster.ray_executor import RayExecutor
from farm_core.settings import ROOT, Settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from motion.bundle import read_document
from scheduler.ports import Advanced, Finished, SegmentAssignment, VideoFormat
from tests.acceptance.ray_nodes import start_patiently
from tests.patience import HANG_SECONDS

pytestmark = [pytest.mark.acceptance, pytest.mark.filterwarnings("default")]

PICTURE = VideoFormat(320, 180, 30.0, 60, None, 2.0)
KEY = secrets.token_hex(32)
DATABASE = f"postgresql://farm:{secrets.token_hex(32)}@nowhere/farm"
SEGMENT = SegmentAssignment("job_seen.1", "lease_1", "job_seen", "documents/title.json", {}, PICTURE, 30, 30)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a Ray node with four cores and a dashboard."""
    import ray
    from ray.cluster_utils import Cluster

    from cluster.local.ray_node import agent_ports

    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    start_patiently(monkeypatch)
    head = {"num_cpus": 4, "include_dashboard": True, "dashboard_port": free_port(), **agent_ports()}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    yield cluster
    ray.shutdown()  # the executor gives up on a cluster that does not disconnect it
    cluster.shutdown()


def test_workers_and_what_they_are_at_have_names_and_workers_share_the_cores_and_hold_no_secrets(
    node: Any, tmp_path: Path
) -> None:
    async def story() -> None:
        storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
        document = read_document((ROOT / "examples" / "title-card.motion").read_bytes())
        storage.put_bytes(SEGMENT.document_key, orjson.dumps(document))
        settings = Settings(data_folder=tmp_path, gl_software=True, workers=2, jwt_secret=KEY, database_url=DATABASE)
        executor = RayExecutor(settings, node.address)
        await executor.start()
        try:
            first, second = await _ready(executor, 2)
            executor.submit(SEGMENT, first)
            assert isinstance(await _ended(executor), Finished)
            assert await _actors() == {first: first, second: second}
            assert await _calls() == {
                "execute": {"job_seen frames 30-59"},
                "describe": {f"{first}.describe", f"{second}.describe"},
            }
            assert [await _raster_threads(name) for name in (first, second)] == [2, 2]
            assert [await _held(name) for name in (first, second)] == [set(), set()]
        finally:
            await executor.close()

    asyncio.run(story())


async def _ready(executor: RayExecutor, count: int) -> list[str]:
    async with asyncio.timeout(HANG_SECONDS):
        while len(executor.workers()) < count:  # noqa: ASYNC110 - the executor asks Ray once a second
            await asyncio.sleep(0.05)
    return sorted(worker.id for worker in executor.workers())


async def _ended(executor: RayExecutor) -> Any:
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            for report in await executor.reports(0.5):
                if not isinstance(report, Advanced):
                    return report


async def _actors() -> dict[str, str]:
    """Return each actor's name, and the name in its own reports."""
    from ray.util.state import list_actors

    actors = await asyncio.wait_for(asyncio.to_thread(list_actors, detail=True), HANG_SECONDS)
    return {str(actor.name): str(actor.repr_name) for actor in actors if actor.state == "ALIVE"}


async def _calls() -> dict[str, set[str]]:
    """Return the names of all calls by method, once the dashboard shows an assignment and its caller.

    Ray learns of a call from the caller, and of the actor's own name from the actor, about a second later.
    """
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            calls = await _reported_calls()
            if "execute" in calls and not any(
                name.startswith("RenderActor.") for names in calls.values() for name in names
            ):
                return calls
            await asyncio.sleep(0.2)


async def _reported_calls() -> dict[str, set[str]]:
    from ray.util.state import list_tasks

    calls: dict[str, set[str]] = {}
    for task in await asyncio.to_thread(list_tasks, filters=[("type", "=", "ACTOR_TASK")]):
        calls.setdefault(str(task.func_or_class_name).split(".")[-1], set()).add(str(task.name))
    return calls


async def _raster_threads(name: str) -> int:
    return _threads(await _process_id(name), "llvmpipe-")


async def _held(name: str) -> set[str]:
    """Return the secrets in a worker's memory."""
    memory = await asyncio.to_thread(_memory, await _process_id(name))
    return {secret for secret in (KEY, DATABASE) if any(secret.encode() in part for part in memory)}


async def _process_id(name: str) -> int:
    import ray

    def ask() -> int:
        return int(ray.get(ray.get_actor(name, NAMESPACE).process_id.remote(), timeout=HANG_SECONDS))

    return await asyncio.wait_for(asyncio.to_thread(ask), HANG_SECONDS)


def _memory(process_id: int) -> list[bytes]:
    """Return the parts of a process's memory that it can write to and that are no files."""
    maps = Path(f"/proc/{process_id}/maps").read_text()
    places = re.findall(r"^(\w+)-(\w+) rw.p \S+ \S+ 0 ", maps, re.MULTILINE)
    with Path(f"/proc/{process_id}/mem").open("rb", buffering=0) as memory:
        return [os.pread(memory.fileno(), int(end, 16) - int(begin, 16), int(begin, 16)) for begin, end in places]


def _threads(process_id: int, prefix: str) -> int:
    names = [(folder / "comm").read_text() for folder in Path(f"/proc/{process_id}/task").iterdir()]
    return sum(name.startswith(prefix) for name in names)
