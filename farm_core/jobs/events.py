"""History of a job: one row per transition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import orjson

from farm_core.db.sql import Transaction, execute


async def write_event(
    transaction: Transaction, now: datetime, job_id: str, event: str, detail: Mapping[str, object]
) -> None:
    """Add an event to the job's history. `detail` is for operators, not for callers."""
    values = {"now": now, "job_id": job_id, "event": event, "detail": orjson.dumps(detail).decode()}
    await execute(transaction, "write_event", values)
