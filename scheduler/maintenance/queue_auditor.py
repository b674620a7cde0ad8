"""Find accounts with wrong queue tables, and recount their jobs."""

from __future__ import annotations

from farm_core.jobs.recount import ACCOUNTS_AT_ONCE, doubtful_accounts, recount
from farm_core.telemetry import logs
from scheduler.service import Service

_log = logs.logger(__name__)


class QueueAuditor(Service):
    """Correct queue tables after rows were loaded without triggers. Runs at the start of the scheduler and every
    hour."""

    every_seconds = 3600.0

    async def tick(self) -> int:
        """Run one check. Return 0, because corrected tables need no second check."""
        database = self.dependencies.database
        doubtful = await doubtful_accounts(database)
        if not doubtful:
            return 0
        _log.warning("queue tables of accounts are wrong; counting their jobs", accounts=len(doubtful))
        for start in range(0, len(doubtful), ACCOUNTS_AT_ONCE):
            if self._stopping:
                return 0
            await recount(database, doubtful[start : start + ACCOUNTS_AT_ONCE])
        _log.info("queue tables are mended", accounts=len(doubtful))
        return 0
