"""Workers that render nothing, so that what is measured is the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from farm_core.storage.port import Storage
from scheduler.ports import AssembleOrder, Finished, Order, SegmentOrder


@dataclass(slots=True)
class NoWork:
    """Answers every order at once, after storing a few bytes where a result belongs."""

    storage: Storage
    worker_id: str
    maker: Any = field(default_factory=lambda: SimpleNamespace(renderer="none", device="none", encoder="none"))

    def carry_out(self, order: Order, on_progress: Callable[[int], None], _: Callable[[], bool]) -> Finished:
        """The order's report."""
        match order:
            case SegmentOrder():
                on_progress(order.frame_count)
                key = f"segments/{order.job_id}-{order.first_frame}.mp4"
                self.storage.put_bytes(key, b"segment")
                return Finished(order.token, self.worker_id, key, "00", 7, 0.001)
            case AssembleOrder():
                self.storage.put_bytes(order.video_key, b"video")
                hashes = tuple("00" for _ in order.segment_keys)
                return Finished(order.token, self.worker_id, order.video_key, "11", 5, 0.001, segments_sha256=hashes)
