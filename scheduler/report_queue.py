"""Queue of the reports that an executor has for its scheduler."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from scheduler.ports import Report


class ReportQueue:
    """Reports in the order in which they arrived. All calls are made on one event loop."""

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
