"""Slots of render actors on every live node, as pure functions."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cluster.messages import VERSION
from farm_core.settings import Settings


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one actor. All schedulers with the same messages use the same name for it, so that they share the
    actor."""

    name: str
    node_id: str
    node_name: str
    cpus: float
    gpus: float
    raster_threads: int
    """Additional threads for software GL."""
    starts_max: int
    """Limit of concurrent starts on the node. A starting actor keeps a core busy until it is ready."""


def slots_of(nodes: Sequence[Mapping[str, Any]], settings: Settings) -> Iterator[Slot]:
    """Yield the slots of all live nodes of Ray's node list: some per GPU, or one per core without a GPU."""
    for node in nodes:
        if node["Alive"]:
            yield from _slots_of_node(node, settings)


def _slots_of_node(node: Mapping[str, Any], settings: Settings) -> Iterator[Slot]:
    resources = node.get("Resources", {})
    node_id, node_name = str(node["NodeID"]), str(node.get("NodeName") or node.get("NodeManagerHostname") or "node")
    cpus, gpus = float(resources.get("CPU", 0)), float(resources.get("GPU", 0))
    by_gpu = gpus > 0 and not settings.gl_software
    if not (cpus or by_gpu):
        return
    count = settings.workers or int(gpus * settings.workers_per_gpu if by_gpu else cpus)
    threads = raster_share(cpus, count) if settings.raster_threads is None else settings.raster_threads
    for index in range(count):
        name = f"render-{VERSION}-{node_id[-8:]}-{index}"
        cpu_share = 0.0 if by_gpu else min(1.0, cpus / count)
        gpu_share = 1 / math.ceil(count / gpus) if by_gpu else 0.0
        yield Slot(name, node_id, node_name, cpu_share, gpu_share, threads, starts_max=max(1, int(max(cpus, gpus))))


def raster_share(cores: float, workers: int) -> int:
    """Return the threads of software GL for each worker.

    With one core, return 0: the worker's own thread rasterises, and a second one would only compete with it.
    """
    share = int(cores // workers)
    return share if share > 1 else 0


TASKS_PER_WORKER: Final = 4
"""Open segments for each worker of an autoscaled fleet. A segment is about a second of output."""


class Growth:
    """Number of workers that a queue needs. It grows at once and shrinks after `workers_keep_seconds`.

    `workers_max` must be set. `workers` is the number of live workers: a new scheduler releases none of them before
    `workers_keep_seconds` have passed.
    """

    def __init__(self, settings: Settings, workers: int, now: float) -> None:
        assert settings.workers_max is not None, "the fleet can grow"
        self._least, self._most = min(settings.workers_min, settings.workers_max), settings.workers_max
        self._keep_seconds = settings.workers_keep_seconds
        self._peaks: deque[tuple[float, int]] = deque([(now, self._bounded(workers))])

    @property
    def target_workers(self) -> int:
        """Return the largest number of workers that the queue has recently needed."""
        return self._peaks[0][1]

    def demand(self, open_tasks: int, now: float) -> None:
        """Record the queue's length at a time. Times must not decrease."""
        worth = self._bounded(math.ceil(open_tasks / TASKS_PER_WORKER))
        while self._peaks and self._peaks[-1][1] <= worth:
            self._peaks.pop()
        self._peaks.append((now, worth))
        while self._peaks[0][0] < now - self._keep_seconds:
            self._peaks.popleft()

    def _bounded(self, workers: int) -> int:
        return max(self._least, min(self._most, workers))


def kept_slots(slots: Sequence[Slot], target_workers: int, taken: Collection[str]) -> list[Slot]:
    """Return `target_workers` slots that should have a worker, first those whose names are `taken` by a live worker.

    All schedulers choose the same slots, because all see the same names.
    """
    return sorted(slots, key=lambda slot: (slot.name not in taken, slot.name))[:target_workers]
