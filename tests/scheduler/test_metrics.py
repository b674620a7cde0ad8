"""The scheduler's metrics, as Prometheus reads them."""

from __future__ import annotations

from farm_core.telemetry.metrics import REGISTRY
from scheduler import metrics
from scheduler.ports import WorkerState


def _live(device: str, backend: str) -> float | None:
    return REGISTRY.get_sample_value("farm_workers", {"device": device, "encoder": "libx264", "backend": backend})


def test_workers_are_counted_by_what_composites_there() -> None:
    software = [
        WorkerState(f"w{n}", "n", "r", "software: x", "libx264", backend=name)
        for n, name in enumerate(("cpu", "cpu", "gl"))
    ]
    metrics.workers(software)
    assert (_live("software: x", "cpu"), _live("software: x", "gl")) == (2.0, 1.0)
    metrics.workers(software[:1])
    assert (_live("software: x", "cpu"), _live("software: x", "gl")) == (1.0, None)
