"""The scheduler's metrics, as Prometheus reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from cluster.local.ray_head import free_port
from farm_core.telemetry.metrics import REGISTRY
from scheduler import metrics
from scheduler.ports import WorkerState

ROOT = Path(__file__).resolve().parents[2]


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


def test_the_free_disk_of_each_worker_is_shown() -> None:
    metrics.workers([WorkerState("w0", "n", "r", "d", "e", disk_free_bytes=7), WorkerState("w1", "n", "r", "d", "e")])
    shown = [REGISTRY.get_sample_value("farm_worker_disk_free_bytes", {"worker": name}) for name in ("w0", "w1")]
    assert shown == [7.0, None]


def test_schedulers_of_one_machine_find_ports_for_their_metrics_one_after_another() -> None:
    """A port in use does not stop a scheduler."""
    first = metrics.serve("127.0.0.1", free_port())
    assert first is not None
    second = metrics.serve("127.0.0.1", first)
    assert second is not None
    assert second > first
    with urlopen(f"http://127.0.0.1:{second}/metrics") as answer:
        assert b"farm_open_segments" in answer.read()


def test_a_scheduler_serves_no_gauge_of_the_queue_and_the_stores_which_it_never_measures() -> None:
    """Zeros would trigger alerts about missing storage and a full disk."""
    code = "import scheduler.__main__; from farm_core.telemetry.metrics import exposition; print(exposition().decode())"
    served = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "farm_open_segments" in served
    gauges = ("farm_storage_up", "farm_data_disk_free_ratio", "farm_queue_age_seconds", "farm_webhooks_overdue")
    assert not [name for name in gauges if name in served]
