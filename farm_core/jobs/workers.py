"""Records of workers, and of the segments in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol

from farm_core.accounts.plans import PLANS, storage_limit
from farm_core.db.sql import Transaction, column, execute, execute_as

LIVE_SECONDS: Final = 15.0
"""Time after which an unseen worker counts as gone."""

RESTART_SECONDS: Final = 60.0
"""Time after which an unseen worker no longer counts as one that restarts."""

FORGET_SECONDS: Final = 3600.0
"""Time after which an unseen worker is forgotten."""

FORGET_DRAINED_SECONDS: Final = 30 * 24 * 3600.0
"""The same for drained workers and nodes: a drain must outlast a repair of the machine."""

FAILURES_MAX: Final = 3

WITNESSES_MIN: Final = 2
"""Number of accounts whose jobs failed on a worker and were completed elsewhere, from which failures of unproven accounts count
against it too."""

REST_SECONDS_MAX: Final = 600
"""Longest quarantine of a worker that keeps failing."""


class SeenWorker(Protocol):
    """Recorded properties of a worker."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def node(self) -> str: ...  # noqa: D102
    @property
    def renderer(self) -> str: ...  # noqa: D102
    @property
    def device(self) -> str: ...  # noqa: D102
    @property
    def encoder(self) -> str: ...  # noqa: D102
    @property
    def memory_bytes(self) -> int: ...  # noqa: D102
    @property
    def disk_free_bytes(self) -> int | None: ...  # noqa: D102
    @property
    def frames_done(self) -> int: ...  # noqa: D102


STRIKE_SECONDS: Final = 600.0
"""Time for which a worker's failure counts against the account of the job."""

STRIKES_MAX: Final = 5
"""Number of strikes from which an account is restricted to one task at a time."""

STRIKES_SHARE: Final = 0.02
"""Strikes per job in processing. The restriction starts at this number if it is larger than STRIKES_MAX."""


STALL_STRIKES: Final = 3
"""Strikes for a frame that blocked its worker: it costs much more of the worker's time than a crash."""


class Strikes(NamedTuple):
    """Strikes of an account, and when one of its frames last blocked a worker, if ever."""

    number: int
    last_stall_at: datetime | None


async def striking_accounts(transaction: Transaction, now: datetime) -> dict[str, Strikes]:
    """Return the accounts whose jobs brought down too many workers lately, with their strikes. Completed jobs do not
    count."""
    values = {
        "now": now,
        "since": now - timedelta(seconds=STRIKE_SECONDS),
        "stall_strikes": STALL_STRIKES,
        "strikes_max": STRIKES_MAX,
        "strikes_share": STRIKES_SHARE,
    }
    rows = await execute(transaction, "striking_accounts", values)
    return {row.account_id: Strikes(row.strikes, row.last_stall_at) for row in rows}


async def see_workers(transaction: Transaction, now: datetime, workers: Sequence[SeenWorker]) -> None:
    """Record the live workers, and forget workers that have been gone for an hour."""
    ordered = sorted(workers, key=lambda worker: worker.id)
    columns = {
        "ids": [worker.id for worker in ordered],
        "nodes": [worker.node for worker in ordered],
        "renderers": [worker.renderer for worker in ordered],
        "devices": [worker.device for worker in ordered],
        "encoders": [worker.encoder for worker in ordered],
        "memories": [worker.memory_bytes for worker in ordered],
        "disks": [worker.disk_free_bytes for worker in ordered],
        "frames": [worker.frames_done for worker in ordered],
    }
    limits = {"live_seconds": LIVE_SECONDS, "rest_seconds_max": REST_SECONDS_MAX}
    await execute(transaction, "see_workers", {"now": now, **columns, **limits})
    before, drained_before = (now - timedelta(seconds=age) for age in (FORGET_SECONDS, FORGET_DRAINED_SECONDS))
    await execute(transaction, "forget_workers", {"before": before, "drained_before": drained_before})


async def usable_workers(transaction: Transaction, now: datetime, ids: Sequence[str]) -> dict[str, int]:
    """Return those workers that can get tasks, with the number of their tasks from all schedulers."""
    rows = await execute(transaction, "usable_workers", {"now": now, "ids": list(ids)})
    return {row.id: row.load for row in rows}


async def restartable_workers(transaction: Transaction, ids: Sequence[str]) -> list[str]:
    """Return idle workers that must restart. Each is returned to only one caller, which restarts it."""
    return await column(transaction, "restartable_workers", {"ids": list(ids)})


async def live_workers(transaction: Transaction, now: datetime) -> list[str]:
    """Return the workers that some scheduler has seen just now and that can get tasks."""
    values = {"now": now, "since": now - timedelta(seconds=LIVE_SECONDS)}
    return await column(transaction, "live_workers", values)


class LastingWorker(NamedTuple):
    """A worker that can get tasks, or will when it has restarted."""

    id: str
    node: str
    renderer: str


async def lasting_workers(transaction: Transaction, now: datetime) -> list[LastingWorker]:
    """Return the workers that can get tasks, also those that restart."""
    values = {"now": now, "since": now - timedelta(seconds=RESTART_SECONDS)}
    return await execute_as(LastingWorker._make, transaction, "lasting_workers", values)


async def live_renderers(transaction: Transaction, now: datetime) -> set[str]:
    """Return the renderers of workers that some scheduler has seen just now, on any Ray cluster."""
    values = {"since": now - timedelta(seconds=LIVE_SECONDS)}
    return set(await column(transaction, "live_renderers", values))


async def blame_worker(
    transaction: Transaction, now: datetime, worker_id: str, account_id: str | None = None
) -> datetime | None:
    """Count a failure of the worker with a job of the account; return the end of its quarantine, if it is quarantined.

    The failure does not count if the history has a completed job of others, but none of the account, unless jobs of WITNESSES_MIN
    accounts failed there within STRIKE_SECONDS and were completed elsewhere."""
    values = {
        "now": now,
        "id": worker_id,
        "account_id": account_id,
        "failures_max": FAILURES_MAX,
        "rest_seconds_max": REST_SECONDS_MAX,
        "since": now - timedelta(seconds=STRIKE_SECONDS),
        "accounts_min": WITNESSES_MIN,
    }
    until = await column(transaction, "blame_worker", values)
    return until[0] if until else None


@dataclass(frozen=True, slots=True)
class OpenSegments:
    """Bytes of the finished segments of an open job, and what its account stores and is allowed (None: anything).

    `counted_bytes` are those that count for this job: a segment that several jobs of the account need counts once.
    """

    job_id: str
    bytes: int
    counted_bytes: int
    stored_bytes: int
    storage_limit: int | None


async def open_segments(transaction: Transaction, *, any_account: bool) -> dict[str, list[OpenSegments]]:
    """Return the finished segments of the open jobs of each account with a storage limit, or of any account, largest
    job first."""
    limited = [name for name, plan in PLANS.items() if plan.max_storage_bytes is not None]
    found: dict[str, list[OpenSegments]] = {}
    for row in await execute(transaction, "open_segments", {"any_account": any_account, "limited_plans": limited}):
        limit = storage_limit(row.plan, row.max_storage_bytes, row.unlimited)
        found.setdefault(row.account_id, []).append(
            OpenSegments(row.job_id, row.bytes, row.counted_bytes, row.stored_bytes, limit)
        )
    return found


async def surplus_segments(transaction: Transaction, bytes_max: int, segments_max: int) -> list[str]:
    """Return segments to delete, so that the rest fits the budget. No running job needs them."""
    values = {"bytes_max": bytes_max, "segments_max": segments_max}
    return await column(transaction, "surplus_segments", values)


async def forget_segments(transaction: Transaction, keys: Sequence[str]) -> None:
    """Delete the records of segments that are no longer in storage."""
    await execute(transaction, "forget_segments", {"keys": list(keys)})


async def known_segments(transaction: Transaction, keys: Sequence[str]) -> set[str]:
    """Return those keys that have a record in the cache."""
    return set(await column(transaction, "known_segments", {"keys": list(keys)}))
