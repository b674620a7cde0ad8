"""Restarts of workers because of slow frames, which all schedulers know, and the owners of frames that workers draw."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from farm_core.db.sql import Transaction, execute, execute_as

KEPT_SECONDS: Final = 3600.0
"""Time after which a restart is forgotten. It counts for a shorter time (`scheduler/isolation/rules.py`)."""


class SlowFrameRestart(NamedTuple):
    """A worker that was restarted because a slow frame of the account blocked others. `is_proven`: the history had a completed
    job of the account. `frees`: the worker is the one that is left to others from then on."""

    at: datetime
    account_id: str
    worker: str
    is_proven: bool
    frees: bool


class FrameOwner(NamedTuple):
    """The segment whose frame a worker draws, by the token of its lease."""

    token: str
    job_id: str
    task_id: str
    account_id: str
    is_proven: bool


async def record_slow_frame(transaction: Transaction, restart: SlowFrameRestart) -> None:
    """Record a restart, and forget old ones."""
    await execute(transaction, "forget_slow_frames", {"before": restart.at - timedelta(seconds=KEPT_SECONDS)})
    await execute(transaction, "record_slow_frame", restart._asdict())


async def slow_frames(transaction: Transaction, now: datetime, seconds: float) -> list[SlowFrameRestart]:
    """Return the restarts of the last `seconds`, oldest first."""
    values = {"since": now - timedelta(seconds=seconds), "now": now}
    return await execute_as(SlowFrameRestart._make, transaction, "slow_frames", values)


async def frame_owners(transaction: Transaction, tokens: Sequence[str]) -> list[FrameOwner]:
    """Return the owners of the leased segments with these tokens."""
    return await execute_as(FrameOwner._make, transaction, "frame_owners", {"tokens": list(tokens)})
