"""Many new accounts with slow frames cost a proven account one restart of a worker, and no more than one."""

from __future__ import annotations

from pathlib import Path

import pytest

from farm_core.accounts.models import Account
from scheduler.isolation import rules
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import farm
from tests.scheduler.test_slow_frames_hold_all import SlowAccount, honest

pytestmark = pytest.mark.service

NAMES = [f"acc_n{number}" for number in range(20)]


async def test_twenty_new_accounts_cost_a_proven_one_a_single_restart(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them got a worker, and was limited only after another restart: title cards waited for 140 s."""
    slow = SlowAccount(monkeypatch, *NAMES)

    async with farm(database_url, tmp_path, slow, workers=2, frame_seconds_max=HANG_SECONDS) as under_test, slow:
        async with under_test.database.work() as session:
            session.add_all([Account(id=one, name=one) for one in NAMES])
        for width in (1280, 960):
            assert await honest(under_test, width) == "completed"
        with monkeypatch.context() as before:  # no frame has been slow yet
            before.setattr(rules, "BLOCKING_SECONDS", HANG_SECONDS)
            before.setattr(rules, "SLOW_SECONDS", HANG_SECONDS)
            hostile = [await under_test.create(seconds=9, account_id=one, width=648) for one in NAMES]
            await slow.holds(2)
        assert await honest(under_test, 640) == "completed"
        for width in (320, 160, 80):
            assert await honest(under_test, width) == "completed"
        freed = slow.restarted[0]
        assert slow.restarted.count(freed) == 1
        slow.release()
        assert {(await under_test.ended(job)).status for job in hostile} == {"completed"}
