"""Correct the leases of jobs, tasks and webhooks after the clock was set back."""

from __future__ import annotations

from datetime import datetime

from farm_core.db.sql import Transaction, column
from farm_core.jobs import claims, tasks, workers
from farm_core.webhooks.repository import BEGUN_LEASE_SECONDS


async def shorten_leases(transaction: Transaction, now: datetime) -> int:
    """Shorten leases that were given before the clock was set back; return their number. They would block the work of
    dead schedulers for too long."""
    values = {
        "now": now, "job_seconds": claims.LEASE_SECONDS, "task_seconds": tasks.LEASE_SECONDS,
        "live_seconds": workers.LIVE_SECONDS, "post_seconds": BEGUN_LEASE_SECONDS,
    }  # fmt: skip
    return int((await column(transaction, "shorten_leases", values))[0])
