"""Prometheus metrics of one scheduler, on the port in the settings. The API serves the metrics of the whole queue."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from farm_core.telemetry.logs import logger
from farm_core.telemetry.metrics import REGISTRY
from scheduler.ports import Finished, WorkerState

_log = logger(__name__)

PORTS: Final = 16
"""Number of ports to try, so that several schedulers of one machine can share the setting."""
PORT_MAX: Final = 65535

SEGMENTS: Final = Counter("farm_segments_total", "Segments done.", ("source",), registry=REGISTRY)
FRAMES: Final = Counter("farm_frames_total", "Frames rendered; those of cached segments are not.", registry=REGISTRY)
SEGMENT_SECONDS: Final = Histogram(
    "farm_segment_seconds", "Time that a worker took for a segment.", registry=REGISTRY,
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)  # fmt: skip
STILL_SECONDS: Final = Histogram(
    "farm_still_seconds", "Time from a still's request to its answer, by outcome.", ("outcome",), registry=REGISTRY,
    buckets=(0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 20),
)  # fmt: skip
STAGE_SECONDS: Final = Counter("farm_stage_seconds_total", "Where the time goes.", ("stage",), registry=REGISTRY)
FAILURES: Final = Counter("farm_attempt_failures_total", "Attempts that failed.", ("kind",), registry=REGISTRY)
RESCUED: Final = Counter("farm_tasks_rescued_total", "Tasks freed because a lease ran out.", registry=REGISTRY)
WEBHOOK_ATTEMPTS: Final = Counter(
    "farm_webhook_attempts_total", "Attempts by outcome.", ("outcome",), registry=REGISTRY
)
OPEN_SEGMENTS: Final = Gauge("farm_open_segments", "Segments that wait or are under way.", registry=REGISTRY)


class LiveWorkers(Collector):
    """Gauges of the live workers, computed when they are read."""

    def __init__(self) -> None:
        self.living: Sequence[WorkerState] = ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the number of workers by kind, and the memory and disk of each."""
        software = "Live workers; software with the backend gl lacks the native kernels."
        kinds = GaugeMetricFamily("farm_workers", software, labels=("device", "encoder", "backend"))
        for labels, count in Tally((one.device, one.encoder, one.backend) for one in self.living).items():
            kinds.add_metric(labels, count)
        memory = GaugeMetricFamily("farm_worker_memory_bytes", "Resident memory.", labels=("worker",))
        free = "Free space for temporary files of its machine."
        disk = GaugeMetricFamily("farm_worker_disk_free_bytes", free, labels=("worker",))
        for worker in self.living:
            memory.add_metric((worker.id,), worker.memory_bytes)
            if worker.disk_free_bytes is not None:
                disk.add_metric((worker.id,), worker.disk_free_bytes)
        yield from (kinds, memory, disk)


WORKERS: Final = LiveWorkers()
REGISTRY.register(WORKERS)


def serve(host: str, port: int) -> int | None:
    """Serve the metrics on the first free one of PORTS ports from this one on.

    Return the port, or None if none is free: a scheduler works without its metrics too.
    """
    for candidate in range(port, min(port + PORTS, PORT_MAX + 1)):
        try:
            start_http_server(candidate, host, REGISTRY)
        except OSError as error:
            _log.warning("the port of the metrics cannot be used", port=candidate, error=error.strerror)
            continue
        _log.info("metrics are served", port=candidate)
        return candidate
    return None


def segment(report: Finished, frame_count: int) -> None:
    """Count a finished segment."""
    SEGMENTS.labels("cache" if report.cached else "rendered").inc()
    if report.cached:
        return
    FRAMES.inc(frame_count)
    SEGMENT_SECONDS.observe(report.seconds)
    for stage, milliseconds in report.stages_ms.items():
        STAGE_SECONDS.labels(stage).inc(milliseconds / 1000)


def still(drawn: bool, seconds: float) -> None:
    """Count an answered request for a still."""
    STILL_SECONDS.labels("drawn" if drawn else "failed").observe(seconds)


def workers(living: Sequence[WorkerState]) -> None:
    """Remember the live workers for the gauges."""
    WORKERS.living = tuple(living)
