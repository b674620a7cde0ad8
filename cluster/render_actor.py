"""The actor that renders: one process, one GL context on one thread, kept warm from order to order.

Frames never pass through Ray: documents and media come from storage, segments go there.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import psutil
import ray

from cluster.execution import order_work
from cluster.order_work import OrderWork
from farm_core.jobs.judge import Failure, FailureKind
from farm_core.scratch import Scratch
from farm_core.settings import Settings
from scheduler.ports import Ended, Finished, Order, SegmentOrder

NICENESS: Final = 10
"""Rendering yields the processor to those who answer requests; it uses what they leave."""
CLOSE_SECONDS: Final = 3.0
LAST_WORDS_SECONDS: Final = 1.0
"""Time for an actor that ends to hand over why."""


@dataclass(frozen=True, slots=True)
class ActorReport:
    """What an actor says of itself. `progress` is frames done by token of the order under way."""

    renderer: str
    device: str
    encoder: str
    memory_bytes: int
    frames_done: int
    progress: dict[str, int] = field(default_factory=dict)


class RenderThread:
    """The thread that owns the GL context, which `make` makes on it: started with the actor, ended with it."""

    def __init__(self, make: Callable[[], OrderWork]) -> None:
        self._orders: queue.SimpleQueue[tuple[Order, Future[Finished | Ended]] | None] = queue.SimpleQueue()
        self._ready: Future[OrderWork] = Future()
        self._cancelled: set[str] = set()
        self.frames_done = 0
        self.progress: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, args=(make,), daemon=True)
        self._thread.start()

    def work(self) -> OrderWork:
        """What the thread works with, once it is ready; raises what kept it from becoming so."""
        return self._ready.result()

    def carry_out(self, order: Order) -> Finished | Ended:
        """Waits for the order's turn and its end."""
        result: Future[Finished | Ended] = Future()
        self._orders.put((order, result))
        return result.result()

    def cancel(self, token: str) -> None:
        """Stops an order at its next frame, or before it begins."""
        self._cancelled.add(token)

    def close(self) -> None:
        """Lets the order under way end, within a bounded time."""
        self._orders.put(None)
        self._thread.join(CLOSE_SECONDS)

    def _run(self, make: Callable[[], OrderWork]) -> None:
        try:
            work = make()
        except BaseException as error:
            self._ready.set_exception(error)
            raise
        self._ready.set_result(work)
        while (entry := self._orders.get()) is not None:
            order, result = entry
            result.set_result(self._carried_out(work, order))

    def _carried_out(self, work: OrderWork, order: Order) -> Finished | Ended:
        token = order.token
        self.progress = {token: 0}

        def advanced(frames: int) -> None:
            self.progress = {token: frames}

        report = work.carry_out(order, advanced, lambda: token in self._cancelled)
        self.progress = {}
        self._cancelled.discard(token)
        if isinstance(order, SegmentOrder) and isinstance(report, Finished) and not report.cached:
            self.frames_done += order.frame_count
        return report


@ray.remote(concurrency_groups={"orders": 4, "control": 4})
class RenderActor:
    """A worker. Orders wait in its own queue; questions and cancellations are answered while one is under way."""

    def __init__(self, worker_id: str, settings: Settings, raster_threads: int) -> None:
        self._worker_id = worker_id
        self._scratch = Scratch("worker")
        self._process = psutil.Process()
        self._process.nice(max(NICENESS, self._process.nice()))  # only root may take back what Ray has given up
        scratch = self._scratch.path
        self._thread = RenderThread(partial(order_work, worker_id, settings, scratch, _cuda_index(), raster_threads))
        self._leaving = False

    def __repr__(self) -> str:
        """What Ray calls the actor in its dashboard and in logs."""
        return self._worker_id

    @ray.method(concurrency_group="control")
    def describe(self) -> ActorReport:
        """Waits until the renderer is ready; one that cannot be made ready ends the actor, for a fresh one."""
        try:
            return self._report()
        except Exception:
            self._leaving = True
            threading.Timer(LAST_WORDS_SECONDS, os._exit, (1,)).start()
            raise

    @ray.method(concurrency_group="control", enable_task_events=False)
    def report(self) -> ActorReport:
        """How far the order under way is, and how large the process. Asked so often that Ray keeps no record of it."""
        return self._report()

    def _report(self) -> ActorReport:
        maker = self._thread.work().maker
        memory = int(self._process.memory_info().rss)
        thread = self._thread
        return ActorReport(
            maker.renderer, maker.device, maker.encoder, memory, thread.frames_done, dict(thread.progress)
        )

    @ray.method(concurrency_group="orders")
    def carry_out(self, order: Order) -> Finished | Ended:
        """The order's one report."""
        if self._leaving:
            return Ended(order.token, Failure(FailureKind.lost, "The worker is being replaced.", self._worker_id))
        return self._thread.carry_out(order)

    @ray.method(concurrency_group="control")
    def cancel(self, token: str) -> None:
        """Stops an order soon."""
        self._thread.cancel(token)

    @ray.method(concurrency_group="control")
    def process_id(self) -> int:
        """The process that a test kills."""
        return os.getpid()

    @ray.method(concurrency_group="control")
    def leave(self) -> Any:
        """Ends the process for good: drivers have been seen to hang in an ordinary exit, holding the GPU."""
        self._leaving = True
        self._thread.close()
        self._scratch.close()
        os._exit(0)


def _cuda_index() -> int | None:
    """The GPU that Ray has given this actor, as CUDA counts all GPUs of the machine."""
    ids = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    return int(ids[0]) if ids and ids[0].isdigit() else None
