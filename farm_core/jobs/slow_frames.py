"""Accounts with slow frames, which all schedulers know."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from farm_core.db.sql import Transaction, execute

KEPT_SECONDS: Final = 3600.0
"""Time after which a slow frame is forgotten. It counts for a shorter time (`scheduler/isolation/rules.py`)."""


async def record_slow_frames(transaction: Transaction, now: datetime, workers: Mapping[str, str]) -> None:
    """Record that accounts have slow frames now, each with the worker that draws one. Forget old ones."""
    await execute(transaction, "forget_slow_frames", {"before": now - timedelta(seconds=KEPT_SECONDS)})
    values = {"now": now, "account_ids": list(workers), "workers": list(workers.values())}
    await execute(transaction, "record_slow_frames", values)


async def slow_accounts(transaction: Transaction, now: datetime, seconds: float) -> dict[str, datetime]:
    """Return the last slow frame of each account that had one in the last `seconds`."""
    values = {"since": now - timedelta(seconds=seconds), "now": now}
    return {row.account_id: row.at for row in await execute(transaction, "slow_accounts", values)}
