"""Delete accounts while another account stores equal files."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from farm_core.audit.log import Actor, Role
from farm_core.controls.deletion import DeletionReport, delete_account
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs.history import delete_jobs
from farm_core.jobs.models import Job
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.templates.models import Template
from tests.api.world import Someone, World, picture
from tests.farm_core import rows
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest
from tests.scheduler.test_ingest import ingesting, rendered

OPERATOR = Actor("olga", Role.operator)
pytestmark = pytest.mark.service


class HeldStorage(LocalStorage):
    """Storage whose deletions start, and continue when `go` is set."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, Links(b"secret"))
        self.began, self.go = threading.Event(), threading.Event()

    def delete(self, key: str) -> None:
        self.began.set()
        assert self.go.wait(HANG_SECONDS)
        super().delete(key)


def deleted(world: World, someone: Someone, storage: LocalStorage) -> DeletionReport:
    """Delete the account, as `./farm account delete` does."""

    async def act() -> DeletionReport:
        database = Database(str(world.settings.database_url))
        try:
            return await delete_account(database, storage, OPERATOR, someone.account_id)
        finally:
            await database.close()

    return asyncio.run(act())


def until_waiting(url: object, count: int, ended: Callable[[], bool] = lambda: False) -> None:
    """Wait until `count` transactions wait for locks, or the others have ended."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + HANG_SECONDS
    with psycopg.connect(str(url), autocommit=True) as looking:
        while looking.execute(waiting).fetchall() < [(count,)] and not ended():
            assert time.monotonic() < deadline
            time.sleep(0.02)


@contextmanager
def locked_queue(world: World, someone: Someone) -> Iterator[None]:
    """Lock the row that every charge of the account's storage changes."""
    with psycopg.connect(str(world.settings.database_url)) as other:
        other.execute("SELECT 1 FROM account_queues WHERE account_id = %s FOR UPDATE", (someone.account_id,))
        yield


def age(path: Path) -> None:
    """Set the time of a file to before any deletion started."""
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))


async def given_to_bob(under_test: FarmUnderTest, job: Job) -> None:
    """Move the references to a completed job's files to a job of another account."""
    async with under_test.database.work() as session:
        template = await session.get_one(Template, job.template_id)
        await delete_jobs(session, [job.id])
        files = {"document_key": job.document_key, "media": job.media, "status": "cancelled", "finished_at": utc_now()}
        session.add(rows.job(template, account_id="acc_b", **files))


def documents(world: World) -> list[Path]:
    return list((world.settings.data_folder / "storage" / "objects" / "documents").iterdir())


def test_a_deletion_spares_the_document_of_a_template_that_is_being_stored(own_world: World) -> None:
    ada, bob = own_world.account("ada", maxStorageBytes=1_000_000), own_world.account("bob")
    assert ada.upload(picture()).status_code == 201  # from now on, the account's storage is counted
    bob.template()
    storage = LocalStorage(own_world.settings.data_folder / "storage", Links(b"secret"))
    with ThreadPoolExecutor(2) as pool:
        with locked_queue(own_world, ada):
            published = pool.submit(ada.template)
            until_waiting(own_world.settings.database_url, 1)
            age(documents(own_world)[0])
            deletion = pool.submit(deleted, own_world, bob, storage)
            until_waiting(own_world.settings.database_url, 2, deletion.done)
        template_id = published.result(HANG_SECONDS)
        assert deletion.result(HANG_SECONDS).files == 0
    assert len(documents(own_world)) == 1
    assert ada.get(f"/templates/{template_id}").status_code == 200


def test_a_document_that_a_deletion_takes_meanwhile_is_stored_again(own_world: World) -> None:
    ada, bob = own_world.account("ada"), own_world.account("bob")
    bob.template()
    age(documents(own_world)[0])
    storage = HeldStorage(own_world.settings.data_folder / "storage")
    with ThreadPoolExecutor(2) as pool:
        deletion = pool.submit(deleted, own_world, bob, storage)
        assert storage.began.wait(HANG_SECONDS)
        published = pool.submit(ada.template)
        until_waiting(own_world.settings.database_url, 1, published.done)
        storage.go.set()
        assert deletion.result(HANG_SECONDS).files == 1
        assert published.result(HANG_SECONDS)
    assert len(documents(own_world)) == 1


async def test_a_job_whose_files_a_deletion_takes_meanwhile_is_ingested_again(
    database_url: str, tmp_path: Path
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        picture_address = f"{media.origin}/logo.png"
        first = await rendered(under_test, picture_address)
        keys = {str(first.document_key), *dict(first.media or {}).values()}
        await given_to_bob(under_test, first)
        for key in keys:
            age(tmp_path / "storage" / "objects" / key)
        storage = HeldStorage(tmp_path / "storage")
        deletion = asyncio.create_task(delete_account(under_test.database, storage, OPERATOR, "acc_b"))
        assert await asyncio.to_thread(storage.began.wait, HANG_SECONDS)
        job_id = await under_test.create(seconds=1, template_id="tpl_logo", inputs={"logo": picture_address})
        ended = asyncio.create_task(under_test.ended(job_id))
        await asyncio.to_thread(until_waiting, database_url, 1, ended.done)
        storage.go.set()
        assert (await deletion).files == len(keys)
        assert (await ended).status == "completed"
        assert {key for key in keys if under_test.storage.exists(key)} == keys


def test_a_request_that_was_accepted_before_a_suspension_creates_nothing_after_it(own_world: World) -> None:
    """The deletion of an account failed if a job was created after it had cancelled the account's jobs."""
    ada = own_world.account("ada")
    template_id, url = ada.template(), str(own_world.settings.database_url)
    row = {"inputs": {"photo": "https://media.example.com/photo.png"}}
    requests = {
        "/renders": {"templateId": template_id, **row}, "/batches": {"templateId": template_id, "rows": [row]}, "/keys": {},
    }  # fmt: skip
    with ThreadPoolExecutor(len(requests)) as pool, psycopg.connect(url) as other:
        other.execute("UPDATE accounts SET suspended_at = now() WHERE id = %s", (ada.account_id,))
        answers = [pool.submit(ada.post, path, json=body) for path, body in requests.items()]
        until_waiting(url, len(requests), lambda: all(one.done() for one in answers))
        other.commit()
        assert [one.result(HANG_SECONDS).status_code for one in answers] == [403] * len(requests)
    assert own_world.database.execute(
        "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM api_keys)"
    ).fetchall() == [(0,)]


def test_a_request_that_was_accepted_before_a_deletion_is_unauthorised_after_it(own_world: World) -> None:
    ada, url = own_world.account("ada"), str(own_world.settings.database_url)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(url) as other:
        other.execute("SELECT 1 FROM accounts WHERE id = %s FOR UPDATE", (ada.account_id,))
        answer = pool.submit(ada.post, "/keys", json={})
        until_waiting(url, 1, answer.done)
        other.execute("DELETE FROM usage WHERE account_id = %s", (ada.account_id,))
        other.execute("DELETE FROM accounts WHERE id = %s", (ada.account_id,))
        other.commit()
        assert answer.result(HANG_SECONDS).status_code == 401
