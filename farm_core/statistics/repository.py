"""Count finished renders by minute, and read the counts for charts.

Opening a chart counts the missing minutes. Only one process counts at a time, and each statement covers at most an
hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from farm_core.db.database import Database

SETTLED: Final = timedelta(seconds=30)
"""Delay after the end of a minute before it is counted. Transactions that ended a render in it have committed by
then."""

WINDOW: Final = timedelta(hours=1)
WINDOWS_MAX: Final = 200
"""Maximum number of statements in one call. The next call continues."""

BACKLOG_MAX: Final = timedelta(days=62)
"""Age of the oldest minutes that are counted and kept. The longest chart shows a month."""

_COUNT: Final = text(
    """
    WITH taken AS (SELECT until FROM job_roll_up WHERE id = 1 FOR UPDATE SKIP LOCKED),
    base AS (SELECT greatest(until, CAST(:oldest AS timestamptz)) AS at FROM taken),
    first AS (
        -- The next render that ended: hours in which none did cost nothing.
        SELECT least(CAST(:settled AS timestamptz), coalesce(
            (SELECT date_trunc('minute', min(finished_at)) FROM jobs WHERE finished_at >= base.at), :settled
        )) AS since FROM base
    ), bounds AS (
        SELECT since, least(CAST(:settled AS timestamptz), since + CAST(:span AS interval)) AS until FROM first
    ), counted AS (
        INSERT INTO job_minutes (minute, account_id, completed, failed, cancelled, frames, video_ms)
        SELECT date_trunc('minute', jobs.finished_at), jobs.account_id,
            count(*) FILTER (WHERE status = 'completed'), count(*) FILTER (WHERE status = 'failed'),
            count(*) FILTER (WHERE status = 'cancelled'),
            coalesce(sum(frame_count) FILTER (WHERE status = 'completed'), 0),
            coalesce(sum(reserved_ms) FILTER (WHERE status = 'completed'), 0)
        FROM bounds JOIN jobs ON jobs.finished_at >= bounds.since AND jobs.finished_at < bounds.until
        GROUP BY 1, 2
        ON CONFLICT DO NOTHING
    )
    UPDATE job_roll_up SET until = bounds.until FROM bounds WHERE id = 1 AND bounds.until > job_roll_up.until
    RETURNING job_roll_up.until
    """
)
_FARM: Final = text(
    """
    SELECT date_bin(CAST(:step AS interval), minute, CAST(:since AS timestamptz)) AS start, sum(completed) AS completed,
        sum(failed) AS failed, sum(cancelled) AS cancelled, sum(frames) AS frames, sum(video_ms) AS video_ms
    FROM job_minutes WHERE minute >= :since AND minute < :until AND (CAST(:account_id AS text) IS NULL OR account_id = :account_id)
    GROUP BY 1 ORDER BY 1
    """
)


_DELETE: Final = text(
    """
    DELETE FROM job_minutes WHERE (minute, account_id) IN (
        SELECT minute, account_id FROM job_minutes WHERE minute < :before ORDER BY minute LIMIT :rows_max
    )
    """
)


@dataclass(frozen=True, slots=True)
class Bar:
    """Renders that ended in one step of a chart. `video_ms` is the output duration of the completed ones."""

    start: datetime
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    frames: int = 0
    video_ms: int = 0


async def catch_up(database: Database, now: datetime) -> None:
    """Count all past minutes that are not counted yet. Return at once if another process is counting."""
    settled = (now - SETTLED).replace(second=0, microsecond=0)
    values = {"settled": settled, "oldest": settled - BACKLOG_MAX, "span": WINDOW}
    for _ in range(WINDOWS_MAX):
        until = await database.single(lambda connection: _count(connection, values))
        if until is None or until >= settled:
            return


async def delete_old(connection: AsyncConnection, now: datetime, rows_max: int) -> int:
    """Delete minutes that no chart shows any more, oldest first; return their number."""
    return (await connection.execute(_DELETE, {"before": now - BACKLOG_MAX, "rows_max": rows_max})).rowcount


async def bars(
    database: Database, since: datetime, step: timedelta, count: int, account_id: str | None = None
) -> Sequence[Bar]:
    """Return `count` bars of a chart that starts at `since`, for one account or the whole farm."""
    values = {"since": since, "until": since + count * step, "step": step, "account_id": account_id}
    rows = await database.single(lambda connection: connection.execute(_FARM, values))
    found = {
        row.start: Bar(row.start, int(row.completed), int(row.failed), int(row.cancelled), int(row.frames), int(row.video_ms))
        for row in rows
    }  # fmt: skip
    starts = [since + index * step for index in range(count)]
    return [found.get(start, Bar(start)) for start in starts]


async def _count(connection: AsyncConnection, values: dict[str, object]) -> datetime | None:
    until: datetime | None = (await connection.execute(_COUNT, values)).scalar()
    return until
