"""Slow servers, names and receivers of one account must not affect another account."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import aiodns
import pytest

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs import repository
from farm_core.jobs.models import Job
from farm_core.net import resolver
from farm_core.net.resolver import LOOKUPS_PER_ACCOUNT, AccountLookups, patient_resolver, system_resolver
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template
from farm_core.webhooks import repository as webhooks
from scheduler import claimer, ingest, media_gate
from scheduler.media_gate import ACCOUNT_PREPARATIONS_MAX
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, farm, furnish

JOBS = 40


@dataclass
class Tarpit:
    """Server that accepts requests and never answers."""

    url: str = ""
    open: int = 0
    most: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.most = max(self.most, self.open)
        if self.open == ACCOUNT_PREPARATIONS_MAX:
            self.reached.set()
        while await reader.read(65536):
            pass
        self.open -= 1
        writer.close()


@asynccontextmanager
async def tarpit() -> AsyncIterator[Tarpit]:
    tarpit = Tarpit()
    server = await asyncio.start_server(tarpit.hold, "127.0.0.1", 0)
    tarpit.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield tarpit
    finally:
        server.close()


async def with_picture(under_test: FarmUnderTest) -> None:
    """Store a template of the first account with a picture input."""
    target = {"node_id": "logo", "component_type": "Transform", "property": "src"}
    async with under_test.database.work() as session:
        session.add(
            Template(
                id="tpl_picture", account_id="acc_a", name="t", width=64, height=64, fps=30, duration_seconds=1,
                inputs=[{"id": "logo", "label": "Logo", "kind": "image", "required": True}], targets={"logo": target},
                document_key="documents/empty.json",
            )
        )  # fmt: skip


async def hold_preparations(under_test: FarmUnderTest, held: Tarpit) -> None:
    """Let an account hold as many preparations as it can with media that never arrive."""
    await with_picture(under_test)
    for number in range(JOBS):
        source = f"{held.url}/{number}.png"
        await under_test.create(seconds=1, template_id="tpl_picture", inputs={"logo": source})
    async with asyncio.timeout(HANG_SECONDS):
        await held.reached.wait()


async def renders_beside(under_test: FarmUnderTest, held: Tarpit) -> None:
    """Let an account hold preparations, and another one render a job."""
    await hold_preparations(under_test, held)
    honest = await under_test.ended(await under_test.create(seconds=1, account_id="acc_b"))
    assert honest.status == "completed"
    assert held.open == held.most == ACCOUNT_PREPARATIONS_MAX


@pytest.mark.service
async def test_an_account_whose_media_never_arrive_holds_four_preparations_and_no_other_account(
    database_url: str, tmp_path: Path
) -> None:
    async with farm(database_url, tmp_path) as under_test, tarpit() as held:
        await renders_beside(under_test, held)


@pytest.mark.service
async def test_accounts_whose_media_come_slowly_take_no_place_of_others(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight accounts whose servers sent a byte every 2 s could hold all preparations."""
    monkeypatch.setattr(claimer, "PREPARATIONS_MAX", ACCOUNT_PREPARATIONS_MAX)
    monkeypatch.setattr(claimer, "CLAIMED_MAX", JOBS)
    monkeypatch.setattr(media_gate, "SLOW_SECONDS", 0.1)

    async with farm(database_url, tmp_path) as under_test, tarpit() as held:
        await renders_beside(under_test, held)


@pytest.mark.service
async def test_not_more_media_come_slowly_at_once_than_the_limit_of_open_files_allows(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimer, "PREPARATIONS_MAX", ACCOUNT_PREPARATIONS_MAX)
    monkeypatch.setattr(claimer, "SLOW_PREPARATIONS_MAX", 0)
    monkeypatch.setattr(media_gate, "SLOW_SECONDS", 0.0)

    async with farm(database_url, tmp_path) as under_test, tarpit() as held:
        await hold_preparations(under_test, held)
        honest = await under_test.create(seconds=1, account_id="acc_b")
        for _ in range(3):
            under_test.scheduler.claimer.ticked.clear()
            await under_test.scheduler.claimer.ticked.wait()
        assert (await under_test.job(honest)).status == "queued"


@pytest.mark.service
async def test_media_that_never_arrive_fail_their_job_at_the_deadline(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "INGEST_SECONDS", 1)

    async with farm(database_url, tmp_path) as under_test, tarpit() as held:
        await with_picture(under_test)
        source = {"logo": f"{held.url}/logo.png"}
        job = await under_test.ended(await under_test.create(template_id="tpl_picture", inputs=source))
        assert (job.status, job.error) == ("failed", "Its media took longer than 1 s to arrive.")


@pytest.mark.service
async def test_of_an_accounts_webhooks_four_are_posted_at_once_and_another_accounts_does_not_wait(
    database_url: str, tmp_path: Path
) -> None:
    async with due_webhooks(database_url, tmp_path, count=20) as database:
        claimed = [await claimed_jobs(database, room) for room in (16, 16, 16)]
    assert claimed == [["job_a00", "job_a01", "job_a02", "job_a03", "job_b"], [], []]


@pytest.mark.service
async def test_accounts_with_slow_receivers_do_not_keep_each_free_place_from_another_account(
    database_url: str, tmp_path: Path
) -> None:
    """The oldest webhook came first: eight accounts with thousands that are due delayed all others until the last of them."""
    async with due_webhooks(database_url, tmp_path, count=9) as database:
        claimed = [await claimed_jobs(database, room) for room in (3, 1)]
    assert claimed == [["job_a00", "job_a01", "job_b"], ["job_a02"]]


@asynccontextmanager
async def due_webhooks(database_url: str, folder: Path, *, count: int) -> AsyncIterator[Database]:
    """Yield a database with `count` due webhooks of the account acc_a, and a later one of acc_b."""
    database = Database(database_url)
    await furnish(database, LocalStorage(folder, Links(b"secret")))
    long_ago = utc_now() - timedelta(minutes=1)
    for number in range(count):
        await ended(database, f"job_a{number:02}", "acc_a", long_ago)
    await ended(database, "job_b", "acc_b", long_ago + timedelta(seconds=30))
    yield database
    await database.close()


async def claimed_jobs(database: Database, room: int) -> list[str]:
    async with database.work() as session:
        return sorted(one.job_id for one in await webhooks.claim_deliveries(session, utc_now(), room, "here"))


async def ended(database: Database, job_id: str, account_id: str, at: datetime) -> None:
    job = Job(
        id=job_id, account_id=account_id, template_id="tpl", inputs={}, width=64, height=64, fps=30, frame_count=30,
        reserved_ms=1000, origin="http://farm", request_hash="", callback_url="http://example.com", created_at=at,
    )  # fmt: skip
    async with database.work() as session:
        await repository.create(session, job)
    async with database.work() as session:
        assert await repository.cancel(session, job_id)


async def test_an_account_with_slow_names_waits_for_itself_alone() -> None:
    waiting: list[str] = []
    full = asyncio.Event()

    async def resolve(host: str, port: int) -> list[str]:
        if host.startswith("slow"):
            waiting.append(host)
            if len(waiting) == LOOKUPS_PER_ACCOUNT:
                full.set()
            await asyncio.Event().wait()
        return ["93.184.216.34"]

    lookups = AccountLookups(resolve)
    hostile = [asyncio.ensure_future(lookups.of("acc_a")(f"slow{number}.example", 80)) for number in range(50)]
    async with asyncio.timeout(HANG_SECONDS):
        await full.wait()
        assert await lookups.of("acc_b")("quick.example", 80) == ["93.184.216.34"]
    assert len(waiting) == LOOKUPS_PER_ACCOUNT
    for task in hostile:
        task.cancel()
    await asyncio.gather(*hostile, return_exceptions=True)
    async with asyncio.timeout(HANG_SECONDS):
        assert await lookups.of("acc_a")("quick.example", 80) == ["93.184.216.34"], "its gate is free again"


class NameServer(asyncio.DatagramProtocol):
    """Name server that answers every question with 93.184.216.34, except the first `unheard` ones."""

    def __init__(self) -> None:
        self.unheard = 6
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.unheard -= 1
        if self.unheard >= 0 or self._transport is None:
            return
        end = data.index(b"\0", 12) + 5
        (kind,) = struct.unpack("!H", data[end - 4 : end - 2])
        found = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04" + bytes([93, 184, 216, 34]) if kind == 1 else b""
        head = data[:2] + b"\x81\x80\0\x01" + struct.pack("!H", bool(found)) + bytes(4)
        self._transport.sendto(head + data[12:end] + found, addr)


async def test_a_name_that_times_out_is_asked_for_again_and_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "RESOLVE_SECONDS", (0.3, 30.0))

    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    channel = aiodns.DNSResolver(nameservers=["127.0.0.1"], udp_port=port, timeout=0.2, tries=50, loop=loop)
    monkeypatch.setattr(resolver, "_channel", lambda: channel)
    # Within 0.3 s c-ares asks twice for two address families, and the first attempt gets no answer.
    assert await patient_resolver("a.farm.example", 80) == ["93.184.216.34"]
    server.unheard = 1_000
    with pytest.raises(TimeoutError):
        await system_resolver("b.farm.example", 80)
    await channel.close()
    transport.close()
