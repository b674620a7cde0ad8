"""Circuit breaker for each account. An account whose jobs often bring workers down gets one worker at a time, and a
pause after each stall (`admitted` in `scheduler/isolation/rules.py`).

The history of jobs records deaths and stalls of workers. Each one counts for STRIKE_SECONDS
(`farm_core/jobs/workers.py`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from farm_core.jobs import slow_frames, workers
from farm_core.telemetry import logs
from scheduler.isolation import learning, rules
from scheduler.isolation.isolation import Isolation
from scheduler.isolation.rules import Confinement
from scheduler.isolation.state import COPY_SUFFIX, Frame
from scheduler.service import Service

_log = logs.logger(__name__)


FRAME_SECONDS: Final = 1.0
"""Duration from which the owner of another scheduler's frame is looked up, if tasks of this scheduler wait for it."""


class CircuitBreaker(Service):
    """Restrict accounts whose jobs have brought down too many workers, and read what other schedulers know of slow frames."""

    every_seconds = 1.0

    def __init__(self, isolation: Isolation) -> None:
        super().__init__(isolation.dependencies)
        self.isolation = isolation

    async def tick(self) -> int:
        """Read which accounts have brought down too many workers lately, and which frames are slow."""
        now = self.dependencies.clock.now()
        found = await self.dependencies.database.single(lambda connection: workers.striking_accounts(connection, now))
        restricted = self.isolation.evidence.restricted
        for account_id in found.keys() - restricted.keys():
            strikes = found[account_id].number
            _log.warning("account restricted to one worker at a time", account=account_id, strikes=strikes)
        for account_id in restricted.keys() - found.keys():
            _log.info("account restricted no longer", account=account_id)
        self.isolation.evidence = replace(self.isolation.evidence, restricted=found)
        await self.isolation.read_strikes()
        await self._read_frames()
        return 0

    async def _read_frames(self) -> None:
        """Look up the owners of slow frames of other schedulers: all while accounts are confined, else those that tasks of this one wait for."""
        view, evidence = self.isolation.view(), self.isolation.evidence
        is_attacked = rules.confinement(evidence, view) != Confinement()
        watched = view.workers.keys() if is_attacked else self.isolation.running_tasks.busy_workers()
        unknown = view.unknown_frames(FRAME_SECONDS, watched)
        known = {token: frame for token, frame in self.isolation.foreign.items() if token in unknown}
        leases = {token.removesuffix(COPY_SUFFIX): token for token in unknown.keys() - known.keys() if "." in token}
        if leases:
            read = partial(slow_frames.frame_owners, tokens=sorted(leases))
            for owner in await self.dependencies.database.single(read):
                token = leases[owner.token]
                known[token] = Frame(
                    token, owner.account_id, owner.job_id, owner.task_id, unknown[token], owner.is_proven, self.isolation.resumed_at
                )  # fmt: skip
        self.isolation.foreign = known
        self.isolation.evidence = learning.with_suspects(self.isolation.evidence, self.isolation.view())
