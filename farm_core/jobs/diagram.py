"""Mermaid diagrams of the state machines, generated from the tables of edges for `docs/states.md`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from farm_core.jobs.status import (
    DELIVERY_EDGES,
    JOB_EDGES,
    JOB_TERMINAL,
    TASK_EDGES,
    DeliveryStatus,
    JobStatus,
    TaskStatus,
    writes_with,
)

Status = TypeVar("Status", bound=StrEnum)


def diagram(edges: Mapping[tuple[Status, str], Status], first: Status, created_by: str) -> str:
    """Return a state diagram with one arrow per edge. States without outgoing edges lead to the end."""
    terminal = sorted(set(edges.values()) - {status for status, _ in edges})
    lines = [f"    [*] --> {first}: {created_by}"]
    lines += [f"    {status} --> {after}: {event}" for (status, event), after in edges.items()]
    lines += [f"    {status} --> [*]" for status in terminal]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def states_page() -> str:
    """Return the text of `docs/states.md`."""
    return "\n".join(
        [
            "# State machines",
            "",
            "Generated from the edge tables in `farm_core/jobs/status.py` by `python -m farm_core.jobs.diagram`; a test keeps them equal.",
            "There are no other transitions. A terminal state is never left.",
            "",
            "## Job",
            "",
            diagram(JOB_EDGES, JobStatus.queued, "POST /v1/renders"),
            "",
            "Written in the same transaction as the transition to",
            "",
            *(f"* `{status}`: {', '.join(writes_with(status))}" for status in sorted(JOB_TERMINAL)),
            "",
            "## Task",
            "",
            diagram(TASK_EDGES, TaskStatus.pending, "plan"),
            "",
            "## Delivery of the webhook",
            "",
            diagram(DELIVERY_EDGES, DeliveryStatus.due, "notify"),
            "",
        ]
    )


if __name__ == "__main__":
    import sys

    sys.stdout.write(states_page())
