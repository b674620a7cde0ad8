"""Queue of reports from an executor to its scheduler."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from scheduler.ports import Report


class ReportQueue:
    """Reports in order of arrival. Use it on one event loop only."""

    def __init__(self) -> None:
        self._reports: list[Report] = []
        self._arrived = asyncio.Event()

    def put(self, report: Report) -> None:
        """Add a report, and wake the scheduler."""
        self._reports.append(report)
        self._arrived.set()

    async def take(self, wait_seconds: float) -> list[Report]:
        """Return the reports since the last call. Wait up to `wait_seconds` for the first one."""
        if not self._reports:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), wait_seconds)
        self._arrived.clear()
        reports, self._reports = self._reports, []
        return reports
