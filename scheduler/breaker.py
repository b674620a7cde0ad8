"""A circuit breaker for each account: one whose jobs bring workers down again and again gets one worker at a time, and rests after stalls.

Deaths and stalls of workers are in the history of jobs, and count for a bounded time (`farm_core.jobs.workers.STRIKE_SECONDS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from farm_core.jobs import workers
from farm_core.telemetry import logs
from scheduler.dependencies import Dependencies
from scheduler.placement import AccountLoad, OpenJob
from scheduler.service import Service

_log = logs.logger(__name__)


REST: Final = timedelta(seconds=60)
"""Time after a stall for which a restricted account gets no worker: its slow frames hold one for a third of the time at most."""


class CircuitBreaker(Service):
    """Restrict accounts whose jobs have brought down too many workers."""

    every_seconds = 1.0

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__(dependencies)
        self.restricted: Mapping[str, workers.Strikes] = {}

    async def tick(self) -> int:
        """Read the accounts that have caused too many failures lately."""
        now = self.dependencies.clock.now()
        found = await self.dependencies.database.single(lambda connection: workers.striking_accounts(connection, now))
        for account_id in found.keys() - self.restricted.keys():
            strikes = found[account_id].number
            _log.warning("account restricted to one worker at a time", account=account_id, strikes=strikes)
        for account_id in self.restricted.keys() - found.keys():
            _log.info("account restricted no longer", account=account_id)
        self.restricted = found
        return 0

    def admitted(self, jobs: Sequence[OpenJob], loads: Mapping[str, AccountLoad]) -> list[OpenJob]:
        """Return the jobs that can get a worker now.

        A restricted account gets one task, of its first job, while nothing of it runs and its REST is over.
        """
        now = self.dependencies.clock.now()
        busy = {account_id for account_id, load in loads.items() if load.leased_frames}
        admitted: list[OpenJob] = []
        for job in jobs:
            if job.account_id not in self.restricted:
                admitted.append(job)
            elif job.account_id not in busy and not _rests(self.restricted[job.account_id], now):
                busy.add(job.account_id)
                admitted.append(job._replace(heads=job.heads[:1]))
        return admitted


def _rests(strikes: workers.Strikes, now: datetime) -> bool:
    return strikes.last_stall_at is not None and now < strikes.last_stall_at + REST
