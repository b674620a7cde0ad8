"""Prometheus metrics of the service's processes. Each process serves its own; queue figures come from the database.

API processes that share a port share their metrics in the folder that `PROMETHEUS_MULTIPROC_DIR` names, which the Prometheus
client reads; any of them serves the sum."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

REGISTRY: Final = CollectorRegistry()

REQUESTS: Final = Counter(
    "farm_http_requests_total", "Requests answered.", ("method", "route", "status"), registry=REGISTRY
)
REQUEST_SECONDS: Final = Histogram(
    "farm_http_request_seconds",
    "Time to answer.",
    ("method", "route"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
JOBS: Final = Gauge(
    "farm_jobs",
    "Jobs by status; of ended ones, those of the last day.",
    ("status",),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
QUEUE_AGE_SECONDS: Final = Gauge(
    "farm_queue_age_seconds", "Age of the oldest queued job.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
WEBHOOKS_OVERDUE: Final = Gauge(
    "farm_webhooks_overdue", "Webhooks late by more than a minute.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
STORAGE_UP: Final = Gauge(
    "farm_storage_up", "1 if object storage answers, else 0.", registry=REGISTRY, multiprocess_mode="mostrecent"
)
DATA_DISK_FREE_RATIO: Final = Gauge(
    "farm_data_disk_free_ratio",
    "Free share of the data folder's disk, 0 to 1.",
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)


def exposition() -> bytes:
    """Return the metrics in Prometheus's text format: of this process, or of all that share them."""
    shared = CollectorRegistry()
    try:
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    except ValueError:  # no folder is named
        return generate_latest(REGISTRY)
    return generate_latest(shared)
