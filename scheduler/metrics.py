"""Prometheus metrics of one scheduler, on the port in the settings. The API serves the metrics of the whole queue."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, start_http_server

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
WORKERS: Final = Gauge(
    "farm_workers", "Live workers; software with the backend gl lacks the native kernels.",
    ("device", "encoder", "backend"), registry=REGISTRY,
)  # fmt: skip
WORKER_MEMORY_BYTES: Final = Gauge("farm_worker_memory_bytes", "Resident memory.", ("worker",), registry=REGISTRY)
WORKER_DISK_FREE_BYTES: Final = Gauge(
    "farm_worker_disk_free_bytes", "Free space for temporary files of its machine.", ("worker",), registry=REGISTRY
)


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
    """Set the gauges to the live workers, and remove all others."""
    WORKERS.clear()
    WORKER_MEMORY_BYTES.clear()
    WORKER_DISK_FREE_BYTES.clear()
    kinds = Tally((worker.device, worker.encoder, worker.backend) for worker in living)
    for labels, count in kinds.items():
        WORKERS.labels(*labels).set(count)
    for worker in living:
        WORKER_MEMORY_BYTES.labels(worker.id).set(worker.memory_bytes)
        if worker.disk_free_bytes is not None:
            WORKER_DISK_FREE_BYTES.labels(worker.id).set(worker.disk_free_bytes)
