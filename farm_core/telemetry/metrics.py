"""Prometheus metrics of the service's processes. Each process serves its own metrics.

API processes on one port share their metrics in the folder in `PROMETHEUS_MULTIPROC_DIR`, which the Prometheus client
reads. Any of them serves the sum.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
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


def exposition() -> bytes:
    """Return the metrics of this process, or of all that share them, in Prometheus's text format."""
    shared = CollectorRegistry()
    try:
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    except ValueError:  # no folder is set
        return generate_latest(REGISTRY)
    return generate_latest(shared)
