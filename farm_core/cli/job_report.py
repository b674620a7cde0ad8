"""Report of one job: why it failed, where its time went, its tasks and its history."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Group, RenderableType

from farm_core.cli.listing import Listing
from farm_core.controls.waiting import Wait
from farm_core.jobs.models import Job, JobEvent, Task
from farm_core.jobs.plan import TaskKind
from farm_core.jobs.status import JOB_TERMINAL, JobStatus
from farm_core.webhooks.models import Delivery

TASKS_SHOWN = 12
EVENTS_SHOWN = 20
TROUBLE = (
    "retry task", "fail task", "rescue task", "copy segment", "restart worker", "lose segments", "adopt", "unpin",
    "requeue segment", "hand back task",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobRows:
    """A job with the rows of other tables that belong to it. Tasks are in order of index, events in order of time."""

    job: Job
    tasks: Sequence[Task]
    events: Sequence[JobEvent]
    delivery: Delivery | None


def report(listed: RenderableType, rows: JobRows, now: datetime, waits: str | None) -> Group:
    """Return the report. It has the slowest and the unfinished tasks, and the last events.

    `listed`: the job's row of the list of jobs. `waits`: what the job waits for, if no worker has it.
    """
    return Group(
        listed,
        *([waits] if waits else []),
        *_reasons(rows),
        _time_table(rows, now),
        _task_table(rows.tasks),
        _event_table(rows.events),
    )


def waiting(waits: Wait, account: str) -> str:
    """Return what a job of the account waits for, and what an operator can do."""
    return {
        Wait.PAUSED_FARM: "Waits: the farm is paused. `./farm queue resume` lets it go on.",
        Wait.SUSPENDED_ACCOUNT: f"Waits: its account is suspended. `./farm account unsuspend {account}` lets it go on.",
        Wait.PAUSED_ACCOUNT: f"Waits: its account is paused. `./farm queue resume --account {shlex.quote(account)}` lets it go on.",
        Wait.RESERVE: "Waits: the disk of the storage is nearly full, and its account stores much. Free space, or lower RESULT_DAYS; `./farm doctor` shows the disk.",
        Wait.NO_WORKER: "Waits: no worker takes work. `./farm workers` shows why, `./farm doctor` checks this machine.",
        Wait.STORAGE: "Waits: storage did not answer, or a disk is full. It tries again every few seconds; `./farm doctor` checks both.",
        Wait.DISK: "Waits: a disk has only its reserve of free space, and the job's files are large. Free space; `./farm doctor` shows the disks. "
        "The job goes on within a minute.",
        Wait.BUSY_WORKERS: "Waits for a worker. `./farm queue` shows what else waits, `./farm workers` what is rendered.",
    }[waits]


def _reasons(rows: JobRows) -> list[str]:
    """Return the reasons why the job failed or was delayed, one per line."""
    job, delivery = rows.job, rows.delivery
    lines = [f"Failed: {job.error}"] if job.status == JobStatus.failed else []
    troubles = [event for event in rows.events if event.event in TROUBLE]
    lines += [f"  {event.at:%H:%M:%S}  {_trouble(event)}" for event in troubles[-6:]]
    if len(troubles) > 6:
        lines.append(f"  and {len(troubles) - 6} more of this kind before")
    lines += [f"Warning: {one['message']}" for one in job.warnings or ()]
    if delivery is not None:
        last = delivery.attempts[-1] if delivery.attempts else {}
        outcome = last.get("status") or last.get("error") or "not sent yet"
        lines.append(f"Webhook: {delivery.status}, attempts {delivery.attempt}, last answer {outcome}")
    if job.request_id is not None:
        lines.append(f"Request: {job.request_id} (the logs of API, scheduler and workers have it)")
    return lines


def _trouble(event: JobEvent) -> str:
    detail = event.detail or {}
    parts = [event.event]
    if "task" in detail:
        parts.append(f"{detail['task']}, attempt {detail['attempt']}" if "attempt" in detail else str(detail["task"]))
    parts += [str(detail[name]) for name in ("kind", "message") if detail.get(name)]
    return ": ".join([" ".join(parts[:2]), *parts[2:]]) + (f" on {detail['worker']}" if detail.get("worker") else "")


def _time_table(rows: JobRows, now: datetime) -> Listing:
    """Return the seconds from creation to end by phase, and the time of workers by stage."""
    table = Listing("phase", "seconds", "worker seconds by stage")
    for name, seconds, remark in _phases(rows, now):
        table.add_row(name, f"{seconds:.2f}", remark)
    return table


def _phases(rows: JobRows, now: datetime) -> list[tuple[str, float, str]]:
    """Return the name, the seconds and the stages of each phase that the job has reached."""
    job, end = rows.job, rows.job.finished_at or now
    planned = max((event.at for event in rows.events if event.event == "plan"), default=None)
    segments = [task for task in rows.tasks if task.kind == TaskKind.render]
    ends = [task.finished_at for task in segments if task.finished_at is not None]
    rendered = max(ends) if ends and len(ends) == len(segments) else None
    marks = [
        ("queue", job.created_at, job.started_at, ""),
        ("prepare", job.started_at, planned, ""),
        ("render", planned, rendered, _stages(segments)),
        ("join", rendered, job.finished_at, _stages([task for task in rows.tasks if task.kind == TaskKind.assemble])),
    ]
    phases = [
        (name, ((until or end) - since).total_seconds(), remark) for name, since, until, remark in marks if since is not None
    ]  # fmt: skip
    return [*phases, ("total" if job.status in JOB_TERMINAL else "so far", (end - job.created_at).total_seconds(), "")]


def _stages(tasks: Sequence[Task]) -> str:
    """Return worker seconds by stage, longest first."""
    totals: Counter[str] = Counter()
    for task in tasks:
        for stage, milliseconds in ((task.report or {}).get("stages_ms") or {}).items():
            totals[stage] += milliseconds
    return ", ".join(f"{stage} {milliseconds / 1000:.2f}" for stage, milliseconds in totals.most_common(6))


def _task_table(tasks: Sequence[Task]) -> Listing:
    table = Listing("task", "kind", "frames", "status", "attempts", "worker", "seconds", "cached", "error")
    for task in _shown(tasks):
        result = task.report or {}
        frames = f"{task.first_frame}..{task.first_frame + task.frame_count - 1}"
        seconds = f"{result['seconds']:.2f}" if "seconds" in result else ""
        cached = "yes" if result.get("cached") else ""
        table.add_row(
            str(task.index), task.kind, frames, task.status, str(task.attempt), task.worker or "", seconds, cached,
            task.error or "",
        )  # fmt: skip
    if len(tasks) > TASKS_SHOWN:
        table.add_row("", f"{len(tasks) - TASKS_SHOWN} more", "", "", "", "", "", "", "")
    return table


def _shown(tasks: Sequence[Task]) -> list[Task]:
    """Return unfinished tasks, then the slowest ones, in order of index."""
    chosen = sorted(tasks, key=lambda task: (task.status == "done", -float((task.report or {}).get("seconds", 0))))
    return sorted(chosen[:TASKS_SHOWN], key=lambda task: task.index)


def _event_table(events: Sequence[JobEvent]) -> Listing:
    table = Listing("at", "event", "status", "detail")
    for event in events[-EVENTS_SHOWN:]:
        table.add_row(event.at.strftime("%H:%M:%S.%f")[:-3], event.event, event.status, str(event.detail or ""))
    return table
