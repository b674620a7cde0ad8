"""Circuit breaker for each account. An account whose jobs often bring workers down gets one worker at a time, and a
pause after each stall.

The history of jobs records deaths and stalls of workers. Each one counts for STRIKE_SECONDS
(`farm_core/jobs/workers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from farm_core.jobs import workers
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.placement import AccountLoad, PlaceableJob
from scheduler.service import Service

_log = logs.logger(__name__)


REST: Final = timedelta(seconds=60)
"""Pause of a restricted account after a stall. Its slow frames then hold a worker for at most a third of the time."""


class CircuitBreaker(Service):
    """Restrict accounts whose jobs have brought down too many workers."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__(dependencies)
        self.restricted: Mapping[str, workers.Strikes] = {}

    async def tick(self) -> int:
        """Read which accounts have brought down too many workers lately."""
        now = self.dependencies.clock.now()
        found = await self.dependencies.database.single(lambda connection: workers.striking_accounts(connection, now))
        for account_id in found.keys() - self.restricted.keys():
            strikes = found[account_id].number
            _log.warning("account restricted to one worker at a time", account=account_id, strikes=strikes)
        for account_id in self.restricted.keys() - found.keys():
            _log.info("account restricted no longer", account=account_id)
        self.restricted = found
        return 0

    def resting(self) -> list[str]:
        """Return the accounts that get no worker now."""
        now = self.dependencies.clock.now()
        return [account_id for account_id, strikes in self.restricted.items() if _rests(strikes, now)]

    def admitted(self, jobs: Sequence[PlaceableJob], loads: Mapping[str, AccountLoad]) -> list[PlaceableJob]:
        """Return the jobs that can get a worker now.

        A restricted account gets only the first task of its first job, while none of its tasks run and no REST is
        left.
        """
        now = self.dependencies.clock.now()
        busy = {account_id for account_id, load in loads.items() if load.leased_frames}
        admitted: list[PlaceableJob] = []
        for job in jobs:
            if job.account_id not in self.restricted:
                admitted.append(job)
            elif job.account_id not in busy and not _rests(self.restricted[job.account_id], now):
                busy.add(job.account_id)
                admitted.append(job._replace(heads=job.heads[:1]))
        return admitted


def _rests(strikes: workers.Strikes, now: datetime) -> bool:
    return strikes.last_stall_at is not None and now < strikes.last_stall_at + REST
