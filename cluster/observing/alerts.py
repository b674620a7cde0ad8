"""Prometheus alert rules and their runbook, generated from one table.

`python -m cluster.observing.alerts rules > cluster/observing/alerts.yaml` writes the rules and
`python -m cluster.observing.alerts runbook > docs/operating/alerts.md` the runbook. A test compares both files with the table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

import yaml


@dataclass(frozen=True, slots=True)
class Alert:
    """One rule. The alert fires after the expression has held for `lasting`. `runbook` says how to react."""

    name: str
    severity: str
    expression: str
    lasting: str
    summary: str
    runbook: str


ALERTS: Final = (
    Alert(
        "FarmApiDown", "critical", 'up{job="farm-api"} == 0', "1m", "An API process does not answer.",
        "Read the API's log (`.farm/logs/api.log`, or the container's). `./farm doctor` names a store that is away.",
    ),
    Alert(
        "FarmSchedulerDown", "critical", 'absent(up{job="farm-scheduler"} == 1)', "1m", "No scheduler runs.",
        "Read the scheduler's log. Jobs stay queued and nothing is lost. Start a scheduler, on any machine that reaches the stores.",
    ),
    Alert(
        "FarmNoWorkers", "critical",
        '(sum(farm_workers) == 0 or absent(farm_workers)) and on() sum(farm_jobs{status=~"queued|processing"}) > 0',
        "5m", "Jobs are open and no render worker lives.",
        "`./farm workers` lists the last known workers, `./farm doctor` checks Ray and the GPU driver. Look at Ray's log folder for "
        "actors that end at their start.",
    ),
    Alert(
        "FarmQueueOld", "warning", "max(farm_queue_age_seconds) > 600", "5m", "The oldest queued job has waited for 10 minutes.",
        "`./farm queue` shows who waits and whether the queue is paused. Add workers, or raise `WORKERS_MAX` if the cluster may grow.",
    ),
    Alert(
        "FarmJobsFail", "warning",
        'sum(farm_jobs{status="failed"}) > 10 and '
        'sum(farm_jobs{status="failed"}) > 0.1 * sum(farm_jobs{status=~"completed|failed"})',
        "10m", "More than a tenth of the last day's jobs failed.",
        "`./farm jobs --status failed`, then `./farm jobs show ID` for the reason. One template points at its document, many at a worker "
        "or a store.",
    ),
    Alert(
        "FarmAttemptsFail", "warning", 'sum by (kind) (rate(farm_attempt_failures_total{kind!="document"}[10m])) > 0.1', "10m",
        "Segments fail on workers and are tried again.",
        "`./farm workers` counts failures for each worker. Drain the worker with most (`./farm workers drain WORKER`) and read its log.",
    ),
    Alert(
        "FarmWebhookBacklog", "warning", "max(farm_webhooks_overdue) > 100", "10m", "Over 100 webhooks are late by more than a minute.",
        "`./farm webhooks` shows the receivers. A slow receiver delays only its own account. Check the machine's DNS and outgoing network.",
    ),
    Alert(
        "FarmStorageDown", "critical", "min(farm_storage_up) == 0", "1m", "Object storage does not answer.",
        "Check the bucket's credentials and endpoint, or the disk of the data folder. Renders wait and lose no attempt meanwhile.",
    ),
    Alert(
        "FarmDiskFull", "critical", "min(farm_data_disk_free_ratio) < 0.05", "5m", "The data folder's disk is 95 % full.",
        "Lower `SEGMENT_CACHE_BYTES` or `RESULT_DAYS` (older jobs are deleted too) and restart, or restore a backup on a larger disk. Jobs wait "
        "while the disk is full.",
    ),
    Alert(
        "FarmLeasesExpire", "warning", "sum(rate(farm_tasks_rescued_total[10m])) > 0.1", "10m",
        "Tasks are freed because their leases ran out: schedulers or workers vanish.",
        "Look for machines that restart, run out of memory, or lose their network.",
    ),
    Alert(
        "FarmSlowAnswers", "warning",
        "histogram_quantile(0.99, sum by (le) (rate(farm_http_request_seconds_bucket[5m]))) > 1", "10m",
        "One request in a hundred takes longer than a second.",
        "Look at Postgres first (`pg_stat_activity`), then at the processor of the API's machine.",
    ),
)  # fmt: skip


def rules() -> str:
    """Return the content of `alerts.yaml`."""
    return yaml.safe_dump(
        {"groups": [{"name": "render-farm", "rules": [_rule(alert) for alert in ALERTS]}]}, width=120, sort_keys=False
    )


def _rule(alert: Alert) -> dict[str, object]:
    return {
        "alert": alert.name,
        "expr": alert.expression,
        "for": alert.lasting,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "runbook": alert.runbook},
    }


def runbook() -> str:
    """Return the content of `docs/operating/alerts.md`."""
    lines = [
        "# Alerts and what to do", "",
        "`cluster/observing/alerts.yaml` holds the rules for Prometheus. This page is generated from the same table.", "",
        "| Alert | Severity | Meaning | What to do |", "|---|---|---|---|",
    ]  # fmt: skip
    rows = (f"| {alert.name} | {alert.severity} | {alert.summary} | {alert.runbook} |" for alert in ALERTS)
    return "\n".join([*lines, *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write({"rules": rules, "runbook": runbook}[sys.argv[1]]())
