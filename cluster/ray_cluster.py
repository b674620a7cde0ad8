"""Asynchronous calls to a Ray cluster. Ray's own calls block, so each runs on a thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.liveness import BUSY_SECONDS, Liveness, wait_until_reachable
from cluster.slots import Slot
from cluster.worker.render_actor import RenderActor
from farm_core.settings import Settings
from farm_core.telemetry.logs import in_a_line

NAMESPACE: Final = "farm"
CONNECT_SECONDS: Final = 20.0
JOIN_SECONDS: Final = BUSY_SECONDS
"""Time limit for joining a cluster that accepts connections. On a busy machine it takes longer than a new scheduler would."""
NODES_SECONDS: Final = 5.0
LEAVE_SECONDS: Final = 5.0
QUESTION_THREADS: Final = 8
"""Threads for Ray's blocking calls: more than can wait for a busy cluster until it counts as dead."""
START_THREADS: Final = 8


class RayCluster:
    """Connection of this process to the cluster at `address` (`host:port` of its control store)."""

    def __init__(self, settings: Settings, address: str) -> None:
        self._settings = settings
        self._address = address
        self._liveness = Liveness(address)
        # Separate threads: slow actor starts must not delay the calls that show if the cluster is alive.
        self._questions = ThreadPoolExecutor(QUESTION_THREADS, "ray-question")
        self._starts = ThreadPoolExecutor(START_THREADS, "worker-start")

    async def join(self) -> None:
        """Connect. Raises ConnectionError or TimeoutError if the cluster does not answer."""
        await wait_until_reachable(self._address, CONNECT_SECONDS)
        await asyncio.wait_for(self._ask(_join, self._address), JOIN_SECONDS)

    async def leave(self) -> None:
        """Disconnect within a bounded time. Actors stay for other schedulers until the cluster ends."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ask(ray.shutdown), LEAVE_SECONDS)
        for pool in (self._questions, self._starts):
            pool.shutdown(wait=False, cancel_futures=True)

    async def is_gone(self) -> bool:
        """Return True if the cluster counts as dead."""
        return await self._liveness.is_gone()

    async def nodes(self) -> Sequence[Mapping[str, Any]]:
        """Return Ray's list of all nodes, including dead ones. Raises RayError, ConnectionError."""
        nodes: Sequence[Mapping[str, Any]] = await self._ask(ray.nodes)
        self._liveness.heard()
        return nodes

    async def has_node(self, node_id: str) -> bool:
        """Return True if the node is alive. Return False if the cluster does not answer."""
        try:
            nodes = await asyncio.wait_for(self._ask(ray.nodes), NODES_SECONDS)
        except (TimeoutError, RayError, ConnectionError):
            return False
        return any(node["NodeID"] == node_id and node["Alive"] for node in nodes)

    async def actor_names(self) -> set[str]:
        """Return the names of all live actors of all schedulers."""
        return set(await self._ask(_actor_names))

    async def actor(self, slot: Slot) -> Any:
        """Return the slot's actor. Start it if no actor has the slot's name. The actor outlives this scheduler."""
        return await asyncio.get_running_loop().run_in_executor(self._starts, _actor, slot, self._settings)

    async def kill(self, actor: Any) -> None:
        """Kill the actor's process. Its pending calls fail with an error that contains `ray.kill`."""
        await self._ask(ray.kill, actor)

    async def request_workers(self, count: int) -> None:
        """Ask the autoscaler for nodes with room for `count` workers."""
        await self._ask(_request_workers, count, self._settings)

    async def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._questions, question, *arguments)


def _join(address: str) -> None:
    try:
        ray.init(
            address=address, namespace=NAMESPACE, logging_level="ERROR", log_to_driver=False, configure_logging=False,
        )  # fmt: skip
    except Exception as error:
        # Ray raises a plain Exception, and many others, for a cluster whose nodes are slow to start or have just ended.
        raise ConnectionError(in_a_line(error)) from error


def _actor_names() -> list[str]:
    return [str(name) for name in ray.util.list_named_actors()]


def _request_workers(count: int, settings: Settings) -> None:
    from ray.autoscaler.sdk import request_resources  # noqa: PLC0415 - slow, and most farms are of one size

    share = 1 / settings.workers_per_gpu
    request_resources(bundles=[{"CPU": 1} if settings.gl_software else {"GPU": share}] * count)


def _actor(slot: Slot, settings: Settings) -> Any:
    options: dict[str, Any] = {"num_gpus": slot.gpus} if slot.gpus else {"num_cpus": slot.cpus}
    kind: Any = RenderActor
    handle = kind.options(
        name=slot.name, namespace=NAMESPACE, get_if_exists=True, lifetime="detached", max_restarts=0, max_task_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node_id, soft=False), **options,
    )  # fmt: skip
    return handle.remote(slot.name, settings.for_workers(), slot.raster_threads)
