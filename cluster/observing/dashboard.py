"""Grafana dashboard, generated from a table by `python -m cluster.observing.dashboard > cluster/observing/grafana.json`.

A test compares the file with the table.
"""

from __future__ import annotations

import json
from typing import Any, Final

PANELS: Final = (
    ("Jobs by status", "short", "sum by (status) (farm_jobs)", "{{status}}"),
    ("Age of the oldest queued job", "s", "max(farm_queue_age_seconds)", "age"),
    ("Open segments", "short", "max(farm_open_segments)", "open"),
    ("Frames a second", "short", "sum(rate(farm_frames_total[1m]))", "frames/s"),
    ("Share of segments from the cache", "percentunit",
     'sum(rate(farm_segments_total{source="cache"}[5m])) / sum(rate(farm_segments_total[5m]))', "cache"),
    ("Time of a segment, 95 of 100", "s",
     "histogram_quantile(0.95, sum by (le) (rate(farm_segment_seconds_bucket[5m])))", "p95"),
    ("Where the time goes", "percentunit",
     "sum by (stage) (rate(farm_stage_seconds_total[5m])) / scalar(sum(rate(farm_stage_seconds_total[5m])))", "{{stage}}"),
    ("Workers", "short", "max by (device, encoder, backend) (farm_workers)", "{{device}}, {{backend}}, {{encoder}}"),
    ("Memory of workers", "bytes", "max by (worker) (farm_worker_memory_bytes)", "{{worker}}"),
    ("Free disk of workers", "bytes", "min by (worker) (farm_worker_disk_free_bytes)", "{{worker}}"),
    ("Failed attempts", "short", "sum by (kind) (rate(farm_attempt_failures_total[5m]))", "{{kind}}"),
    ("Rescued tasks", "short", "sum(rate(farm_tasks_rescued_total[5m]))", "rescued"),
    ("Webhook attempts", "short", "sum by (outcome) (rate(farm_webhook_attempts_total[5m]))", "{{outcome}}"),
    ("Late webhooks", "short", "max(farm_webhooks_overdue)", "late"),
    ("Free share of the data disk", "percentunit", "min(farm_data_disk_free_ratio)", "free"),
    ("Requests a second", "reqps", "sum by (status) (rate(farm_http_requests_total[1m]))", "{{status}}"),
    ("Time to answer, 95 of 100", "s",
     "histogram_quantile(0.95, sum by (le, route) (rate(farm_http_request_seconds_bucket[5m])))", "{{route}}"),
    ("GPU use (Ray)", "percent", "ray_node_gpus_utilization", "{{instance}} {{GpuIndex}}"),
)  # fmt: skip
COLUMNS: Final = 3
WIDTH: Final = 24 // COLUMNS
HEIGHT: Final = 8


def dashboard() -> dict[str, Any]:
    """Return the dashboard in Grafana's import format."""
    return {
        "title": "Render farm",
        "uid": "render-farm",
        "tags": ["render-farm"],
        "timezone": "utc",
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus"}]},
        "panels": [_panel(number, *row) for number, row in enumerate(PANELS)],
    }


def _panel(number: int, title: str, unit: str, expression: str, legend: str) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": source,
        "gridPos": {"x": number % COLUMNS * WIDTH, "y": number // COLUMNS * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": "A", "datasource": source, "expr": expression, "legendFormat": legend}],
    }


def page() -> str:
    """Return the text of `grafana.json`."""
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
