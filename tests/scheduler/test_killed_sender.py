"""Kill a sender of webhooks at each moment of a delivery. Receivers get the webhook once, recorded answers stay, and
unsent requests are sent."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import psycopg
import pytest
from sqlalchemy import select

from farm_core import __main__ as farm
from farm_core.audit import log
from farm_core.db.database import Database
from farm_core.db.urls import libpq_url
from farm_core.settings import settings
from farm_core.webhooks.models import Delivery
from scheduler import delivery_journal
from scheduler.delivery_journal import DeliveryJournal, JournalEntry
from tests.clock import ManualClock
from tests.patience import HANG_SECONDS
from tests.scheduler.sender import deliverer, ended_job, post_until_killed

pytestmark = pytest.mark.service
PROCESSES: Final = multiprocessing.get_context("forkserver")
"""Starts senders as forks of a process that has imported everything: the imports take longer than the tests."""
PROCESSES.set_forkserver_preload(["tests.scheduler.sender"])


@dataclass(slots=True)
class Scenario:
    """An ended job with a webhook, a sender process, and a receiver that can kill it."""

    database: Database
    folder: Path
    kill_on: str
    status: int = 204
    sender: BaseProcess | None = None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    killed: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.connected.set()
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
        except asyncio.IncompleteReadError:
            writer.close()
            return
        self.requests.append(head)
        self.asked.set()
        await self.may_answer.wait()
        if self.kill_on == "request":
            self.kill()
        writer.write(f"HTTP/1.1 {self.status} X\r\nConnection: close\r\n\r\n".encode())
        if self.kill_on == "answer":
            self.kill()
        writer.close()

    def start_sender(self, database_url: str, moment: str = "") -> None:
        self.sender = PROCESSES.Process(target=post_until_killed, args=(database_url, self.folder, moment))
        self.sender.start()

    def kill(self) -> None:
        if self.sender is not None and not self.killed.is_set():
            self.sender.kill()
            self.sender.join()
            self.killed.set()

    async def sender_dies(self, database_url: str, moment: str) -> None:
        """Run a sender that kills itself at the moment."""
        self.start_sender(database_url, moment)
        assert self.sender is not None
        await asyncio.to_thread(self.sender.join)
        assert self.sender.exitcode == -signal.SIGKILL

    async def later(self, hours: float = 1, folder: Path | None = None) -> Delivery:
        """Run another sender this many seconds later. With its own folder it is on another machine."""
        second = deliverer(
            self.database, folder or self.folder, ManualClock(datetime.now(UTC) + timedelta(hours=hours))
        )
        await second.tick()
        await second.stop()
        async with self.database.work() as session:
            return (await session.execute(select(Delivery))).scalar_one()


@asynccontextmanager
async def open_scenario(database_url: str, folder: Path, kill_on: str) -> AsyncIterator[Scenario]:
    database = Database(database_url, ping=False)
    scenario = Scenario(database, folder, kill_on)
    scenario.may_answer.set()
    server = await asyncio.start_server(scenario.serve, "127.0.0.1", 0)
    await ended_job(database, folder, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook")
    try:
        async with server, asyncio.timeout(HANG_SECONDS):
            yield scenario
    finally:
        scenario.kill()
        await database.close()


@pytest.mark.parametrize("moment", ["request", "answer"])
async def test_a_webhook_is_not_posted_twice_though_its_sender_was_killed(
    moment: str, database_url: str, tmp_path: Path
) -> None:
    async with open_scenario(database_url, tmp_path, moment) as scenario:
        scenario.start_sender(database_url)
        await scenario.killed.wait()
        delivery = await scenario.later()
        assert len(scenario.requests) == 1
        assert b"x-service-job-id: job" in scenario.requests[0].lower()
        assert delivery.status in (("dropped",) if moment == "request" else ("dropped", "delivered"))
        assert len(delivery.attempts) == 1
        assert "begun" not in delivery.attempts[0]


async def test_an_unsent_request_is_sent_by_the_next_attempt(database_url: str, tmp_path: Path) -> None:
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        await scenario.sender_dies(database_url, "unsent")
        delivery = await scenario.later(hours=0.01)
        assert (delivery.status, delivery.attempt, scenario.requests) == ("due", 1, [])
        assert delivery.attempts[0]["error"] == "The sender died before it had sent the request."
        delivery = await scenario.later(hours=2)
        assert (delivery.status, delivery.attempt, len(scenario.requests)) == ("delivered", 2, 1)


@pytest.mark.parametrize(("answer", "status"), [(204, "delivered"), (410, "dropped"), (503, "due")])
async def test_an_answer_counts_though_its_sender_died_before_it_was_recorded(
    answer: int, status: str, database_url: str, tmp_path: Path
) -> None:
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        scenario.status = answer
        await scenario.sender_dies(database_url, "answered")
        delivery = await scenario.later()
        assert (delivery.status, delivery.attempts[0]["status"], len(scenario.requests)) == (status, answer, 1)
        scenario.status = 204
        delivery = await scenario.later(hours=2)
        assert (delivery.status, len(scenario.requests)) == (("delivered", 2) if status == "due" else (status, 1))


def test_a_sender_forgets_what_is_a_day_old_and_shares_the_journal_of_others_that_remove_entries(
    tmp_path: Path,
) -> None:
    journal = DeliveryJournal(tmp_path)
    for post in ("old.1", "young.1"):
        journal.sent(post)
    for name in ("old.1", "place"):
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "removed.1").symlink_to("nothing")  # an entry that is gone when the sender looks at it
    started, later = DeliveryJournal(tmp_path), DeliveryJournal(tmp_path)
    assert journal.name == started.name == later.name
    assert [started.read(post).sent for post in ("old.1", "young.1")] == [False, True]


def test_a_journal_of_before_a_reboot_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for boot in ("first", "second", "second"):
        (tmp_path / "boot_id").write_text(boot)
        monkeypatch.setattr(delivery_journal, "_BOOT", tmp_path / "boot_id")
        names.append(DeliveryJournal(tmp_path / "webhooks").name)
    assert names[0] != names[1] == names[2]


def test_an_entry_that_was_cut_off_while_it_was_written_is_no_answer(tmp_path: Path) -> None:
    journal = DeliveryJournal(tmp_path)
    (tmp_path / "post.1").write_bytes(b"sent\n20")
    assert journal.read("post.1") == JournalEntry(sent=True)
    journal.begin("post.1")
    assert journal.read("post.1") == JournalEntry(), "an operator has the same attempt made again"


async def test_a_webhook_is_posted_though_nothing_can_be_noted(database_url: str, tmp_path: Path) -> None:
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        (tmp_path / "webhooks").write_text("in the way")
        delivery = await scenario.later()
        assert (delivery.status, len(scenario.requests)) == ("delivered", 1)


@pytest.fixture
def commands_use_the_database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DATABASE_URL", database_url)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.usefixtures("commands_use_the_database")
async def test_an_operator_has_a_dropped_webhook_posted_once_more(database_url: str, tmp_path: Path) -> None:
    async def asked(job_id: str) -> int:
        return await asyncio.to_thread(farm.main, ["webhooks", "--data", str(tmp_path), "--again", job_id])

    async with open_scenario(database_url, tmp_path, "request") as scenario:
        scenario.start_sender(database_url)
        await scenario.killed.wait()
        assert await asked("job") == 1, "it has not ended yet"
        assert (await scenario.later()).status == "dropped"
        assert (await asked("job"), await asked("job_none")) == (0, 1)
        delivery = await scenario.later(hours=2)
        assert (delivery.status, delivery.attempt, len(scenario.requests)) == ("delivered", 1, 2)
    database = Database(database_url)
    async with database.reading() as session:
        (entry,) = await log.page(session, action="send webhook again")
    await database.close()
    assert (entry.role, entry.target) == ("command line", "job job")


async def test_a_sender_that_cannot_know_if_it_was_sent_does_not_post_it_again(
    database_url: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        await scenario.sender_dies(database_url, "answered")
        delivery = await scenario.later(hours=0.01, folder=elsewhere)
        assert (delivery.status, delivery.attempts[0]["begun"]) == ("due", True), "its own machine may yet know"
        delivery = await scenario.later(folder=elsewhere)
        assert (delivery.status, len(scenario.requests)) == ("dropped", 1)
        assert "may have it" in delivery.attempts[0]["error"]


HOLD_BEGINNINGS = (
    "SELECT pg_advisory_lock(1)",
    "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$",
    "CREATE TRIGGER held BEFORE UPDATE OF attempts ON deliveries FOR EACH ROW EXECUTE FUNCTION held()",
)
"""Blocks senders after they connect and before the first byte of their request."""

END_WHO_WAITS = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


async def test_a_sender_killed_before_the_request_leaves_the_webhook_to_the_next_one(
    database_url: str, tmp_path: Path
) -> None:
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        with psycopg.connect(libpq_url(database_url), autocommit=True) as holder:
            for line in HOLD_BEGINNINGS:
                holder.execute(line)
            scenario.start_sender(database_url)
            await scenario.connected.wait()
            scenario.kill()
            holder.execute(END_WHO_WAITS)
            holder.execute("DROP TRIGGER held ON deliveries")
        assert scenario.requests == []
        delivery = await scenario.later()
        assert len(scenario.requests) == 1
        assert (delivery.status, delivery.attempt) == ("delivered", 2)


async def test_an_outcome_is_recorded_though_postgres_went_away_before_it_came(
    database_url: str, tmp_path: Path
) -> None:
    async with open_scenario(database_url, tmp_path, "nothing") as scenario:
        scenario.may_answer.clear()
        sender = deliverer(scenario.database, tmp_path)
        await sender.tick()
        (post,) = sender.posts
        await scenario.asked.wait()
        with psycopg.connect(libpq_url(database_url), autocommit=True) as operator:
            operator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        scenario.may_answer.set()
        await post
        assert (await scenario.later()).status == "delivered"
        assert len(scenario.requests) == 1
