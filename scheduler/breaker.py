"""Circuit breaker for each account. An account whose jobs often bring workers down gets one worker at a time, and a
pause after each stall (`admitted` in `scheduler/isolation/rules.py`).

The history of jobs records deaths and stalls of workers. Each one counts for STRIKE_SECONDS
(`farm_core/jobs/workers.py`).
"""

from __future__ import annotations

from dataclasses import replace

from farm_core.jobs import workers
from farm_core.telemetry import logs
from scheduler.isolation.isolation import Isolation
from scheduler.service import Service

_log = logs.logger(__name__)


class CircuitBreaker(Service):
    """Restrict accounts whose jobs have brought down too many workers, and share with other schedulers which accounts have slow frames."""

    every_seconds = 1.0

    def __init__(self, isolation: Isolation, task_watcher: Service) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation
        self.task_watcher = task_watcher

    async def tick(self) -> int:
        """Read which accounts have brought down too many workers lately, and which have slow frames."""
        now = self.dependencies.clock.now()
        found = await self.dependencies.database.single(lambda connection: workers.striking_accounts(connection, now))
        restricted = self.isolation.evidence.restricted
        for account_id in found.keys() - restricted.keys():
            strikes = found[account_id].number
            _log.warning("account restricted to one worker at a time", account=account_id, strikes=strikes)
        for account_id in restricted.keys() - found.keys():
            _log.info("account restricted no longer", account=account_id)
        self.isolation.evidence = replace(self.isolation.evidence, restricted=found)
        self.isolation.forgive_pause()
        for account_id in await self.isolation.share():
            _log.warning("account leaves workers to others: slow frame", account=account_id)
            self.task_watcher.wake()
        return 0
