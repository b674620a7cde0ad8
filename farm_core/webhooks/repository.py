"""Deliveries that are due, and the record of every attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from farm_core.ids import new_id
from farm_core.jobs.sql import Transaction, column, execute
from farm_core.telemetry.traces import UNKNOWN, TraceContext
from farm_core.webhooks.schedule import TIMEOUT_SECONDS, Outcome

ACCOUNT_POSTS_MAX: Final = 4
"""Posts of one account under way at once."""

LEASE_SECONDS: Final = 20.0
"""Twice an attempt's own limit: a sender that has not begun by then has died."""

BEGUN_LEASE_SECONDS: Final = 120.0
"""Who cannot read a begun attempt's notes does not hurry to take it over: its sender may yet tell how it ended."""


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A webhook that this sender is to post now, or, where `begun`, to settle: another has died while it posted it.

    `place` is where that one kept its notes.
    """

    id: str
    job_id: str
    url: str
    body: Mapping[str, Any]
    attempt: int
    token: str
    begun: bool
    place: str | None
    trace: TraceContext = UNKNOWN


async def claim_deliveries(session: Transaction, now: datetime, deliveries_max: int, place: str) -> list[DueDelivery]:
    """Take what is due; each attempt is counted before it is made. `place` is where this sender reads notes."""
    values = {
        "now": now, "deliveries_max": deliveries_max, "account_max": ACCOUNT_POSTS_MAX, "token": new_id("send"), "lease_seconds": LEASE_SECONDS, "place": place,
        "noted_seconds": BEGUN_LEASE_SECONDS - LEASE_SECONDS, "late_seconds": TIMEOUT_SECONDS,
    }  # fmt: skip
    rows = await execute(session, "claim_deliveries", values)
    return [
        DueDelivery(
            r.id, r.job_id, r.url, r.body, r.attempt, r.lease_token, r.begun, r.place,
            TraceContext(r.request_id, r.traceparent),
        )
        for r in rows
    ]  # fmt: skip


async def begin_attempt(session: Transaction, now: datetime, delivery: DueDelivery, place: str) -> bool:
    """Record that the request goes out now; False where the lease had run out: then it must not."""
    record = orjson.dumps([{"at": now.isoformat(), "begun": True, "place": place}]).decode()
    values = {"now": now, "token": delivery.token, "lease_seconds": BEGUN_LEASE_SECONDS, "record": record}
    return bool(await execute(session, "begin_delivery_attempt", values))


async def end_attempt(
    session: Transaction, now: datetime, delivery: DueDelivery, outcome: Outcome, record: Mapping[str, Any]
) -> bool:
    """Write what became of an attempt; False where the lease had run out and another sender has it."""
    values = {
        "now": now, "token": delivery.token, "status": str(outcome.status), "after_seconds": outcome.after_seconds,
        "outcome": orjson.dumps([record]).decode(),
    }  # fmt: skip
    return bool(await execute(session, "end_delivery_attempt", values))


async def next_due(session: Transaction) -> datetime | None:
    """Return the time of the next delivery, or None if none waits."""
    found: datetime | None = (await column(session, "next_delivery"))[0]
    return found
