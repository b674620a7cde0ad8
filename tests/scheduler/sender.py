"""A process that posts webhooks and kills itself.

The moments are `unsent`, before the last bytes of a request, and `answered`, before the outcome is recorded.
"""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

from farm_core.clock import Clock
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from farm_core.jobs.endings import WEBHOOK_SECONDS
from farm_core.jobs.models import Job
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from scheduler.deliverer import Deliverer
from scheduler.delivery_journal import DeliveryJournal
from tests.scheduler.farm import furnish, parts_for


def deliverer(database: Database, folder: Path, clock: Clock | None = None) -> Deliverer:
    """Yield a deliverer with its dependencies."""
    return Deliverer(parts_for(database, LocalStorage(folder / "storage", Links(b"secret")), [], folder, clock))


async def ended_job(database: Database, folder: Path, url: str) -> None:
    """Create an ended job whose webhook is due."""
    await furnish(database, LocalStorage(folder / "storage", Links(b"secret")))
    async with database.work() as session:
        job = Job(
            id="job", account_id="acc_a", template_id="tpl", inputs={}, width=64, height=64, fps=30, frame_count=30,
            reserved_ms=1000, origin="http://farm", request_hash="", callback_url=url,
            created_at=utc_now() - timedelta(seconds=WEBHOOK_SECONDS),
        )  # fmt: skip
        await repository.create(session, job)
    async with database.work() as session:
        assert await repository.cancel(session, "job")


class DyingNotes(DeliveryJournal):
    """DeliveryJournal that kills its process at a moment."""

    moment = ""

    def sent(self, post: str) -> None:
        self._die("unsent")
        super().sent(post)

    def answered(self, post: str, status: int | None) -> None:
        super().answered(post, status)
        self._die("answered")

    def _die(self, moment: str) -> None:
        if moment == self.moment:
            os.kill(os.getpid(), signal.SIGKILL)


def post_until_killed(database_url: str, folder: Path, moment: str = "") -> None:
    """Post webhooks until the process kills itself at the moment."""
    asyncio.run(_post(database_url, folder, moment))


async def _post(database_url: str, folder: Path, moment: str) -> None:
    sender = deliverer(Database(database_url), folder)
    sender.journal = DyingNotes(folder / "webhooks")
    sender.journal.moment = moment
    sender.start()
    await asyncio.Event().wait()
