"""Bar charts of renders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.statistics.repository import Bar

HEIGHT_MIN: Final = 2.0
"""Minimum height of a non-empty part of a bar, in percent of the chart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Stacked bars of equal width."""

    bars: Sequence[Bar]
    step: timedelta

    @property
    def top(self) -> int:
        """Return the largest number of renders in one bar, at least 1."""
        return max(1, *(bar.completed + bar.failed + bar.cancelled for bar in self.bars)) if self.bars else 1

    def heights(self, bar: Bar) -> tuple[float, float, float]:
        """Return the heights of completed, failed and cancelled renders in percent of the chart.

        A non-empty part has at least HEIGHT_MIN, so that one failure among thousands of renders is visible.
        """
        counts = (bar.completed, bar.failed, bar.cancelled)
        room = 100 - len(counts) * HEIGHT_MIN
        completed, failed, cancelled = (max(HEIGHT_MIN, room * one / self.top) if one else 0.0 for one in counts)
        return completed, failed, cancelled

    @property
    def completed(self) -> int:
        """Return the number of completed renders."""
        return sum(bar.completed for bar in self.bars)

    @property
    def failed(self) -> int:
        """Return the number of failed renders."""
        return sum(bar.failed for bar in self.bars)

    @property
    def cancelled(self) -> int:
        """Return the number of cancelled renders."""
        return sum(bar.cancelled for bar in self.bars)


USE_MAX = 10_000
_USE = text(
    """
    SELECT date_trunc('day', created_at, 'UTC') AS day, count(*) FILTER (WHERE status NOT IN ('failed', 'cancelled')) AS fine,
        count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'cancelled') AS cancelled
    FROM (
        SELECT created_at, status FROM jobs WHERE template_id = :template_id AND created_at >= :since
        ORDER BY created_at DESC, id DESC LIMIT :most
    ) AS newest GROUP BY 1
    """
)


async def template_use(session: AsyncSession, template_id: str, now: datetime, days: int) -> Chart:
    """Return a chart of a template's renders by day of creation. Count at most the newest USE_MAX."""
    step = timedelta(days=1)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - (days - 1) * step
    rows = await session.execute(_USE, {"template_id": template_id, "since": since, "most": USE_MAX})
    counted = {row.day: Bar(row.day, row.fine, row.failed, row.cancelled) for row in rows}
    starts = [since + index * step for index in range(days)]
    return Chart([counted.get(start, Bar(start)) for start in starts], step)
