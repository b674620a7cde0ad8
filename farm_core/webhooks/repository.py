"""Due deliveries, and records of all attempts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson

from farm_core.db.sql import Transaction, column, execute
from farm_core.ids import new_id
from farm_core.telemetry.traces import UNKNOWN, TraceContext
from farm_core.webhooks.schedule import TIMEOUT_SECONDS, Outcome

ACCOUNT_POSTS_MAX: Final = 4
"""Maximum number of concurrent posts of one account."""

LEASE_SECONDS: Final = 20.0
"""Duration of a lease: twice an attempt's time limit. A sender that has not started by then has died."""

BEGUN_LEASE_SECONDS: Final = 120.0
"""Duration of a started attempt's lease for senders that cannot read its journal. Until then its own sender can
record its end."""

AHEAD_SECONDS: Final = 60.0
"""A delivery that is due later than this is posted now: the clock was set back, because the longest pause between attempts is 20 s."""


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A webhook that this sender must post, or only end if `begun`: the sender that started to post it has died.

    `journal` is the name of that sender's delivery journal.
    """

    id: str
    job_id: str
    url: str
    body: Mapping[str, Any]
    attempt: int
    token: str
    begun: bool
    journal: str | None
    trace: TraceContext = UNKNOWN


async def claim_deliveries(
    transaction: Transaction, now: datetime, deliveries_max: int, journal: str
) -> list[DueDelivery]:
    """Claim due deliveries. Each attempt is counted before it is made. `journal` is the name of this sender's
    journal."""
    values = {
        "now": now, "deliveries_max": deliveries_max, "account_max": ACCOUNT_POSTS_MAX, "token": new_id("send"), "lease_seconds": LEASE_SECONDS, "journal": journal,
        "sooner_seconds": BEGUN_LEASE_SECONDS - LEASE_SECONDS, "late_seconds": TIMEOUT_SECONDS,
        "ahead_seconds": AHEAD_SECONDS,
    }  # fmt: skip
    rows = await execute(transaction, "claim_deliveries", values)
    return [
        DueDelivery(
            r.id, r.job_id, r.url, r.body, r.attempt, r.lease_token, r.begun, r.journal,
            TraceContext(r.request_id, r.traceparent),
        )
        for r in rows
    ]  # fmt: skip


async def begin_attempt(transaction: Transaction, now: datetime, delivery: DueDelivery, journal: str) -> bool:
    """Record that the request is about to be sent. Return False if the lease has expired; then do not send it."""
    record = orjson.dumps([{"at": now.isoformat(), "begun": True, "place": journal}]).decode()
    values = {"now": now, "token": delivery.token, "lease_seconds": BEGUN_LEASE_SECONDS, "record": record}
    return bool(await execute(transaction, "begin_delivery_attempt", values))


async def end_attempt(
    transaction: Transaction, now: datetime, delivery: DueDelivery, outcome: Outcome, record: Mapping[str, Any]
) -> bool:
    """Record the outcome of an attempt. Return False if the lease has expired and another sender has the delivery."""
    values = {
        "now": now, "token": delivery.token, "status": str(outcome.status), "after_seconds": outcome.after_seconds,
        "outcome": orjson.dumps([record]).decode(),
    }  # fmt: skip
    return bool(await execute(transaction, "end_delivery_attempt", values))


async def next_due(transaction: Transaction) -> datetime | None:
    """Return the time of the next delivery, or None if none waits."""
    found: datetime | None = (await column(transaction, "next_delivery"))[0]
    return found
