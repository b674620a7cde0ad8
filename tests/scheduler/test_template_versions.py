"""Renders of a template that is replaced while they wait are frozen from the version of their creation."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select, text
from sqlmodel import col

from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs.models import Job
from farm_core.jobs.repository import wake_schedulers
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from farm_core.storage.port import Storage
from farm_core.templates import repository
from farm_core.templates.models import Template, TemplateVersion
from scheduler.maintenance.retention import ResultReaper, RowReaper
from tests.clock import ManualClock
from tests.farm_core import rows
from tests.scheduler.farm import FarmUnderTest, farm, furnish, parts_for

pytestmark = pytest.mark.service


def document(name: str) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [
        {"id": "root", "name": name, "parent": None, "children": [], "visible": True, "components": []}
    ]
    return {"version": "1.8.0", "scene": {"nodes": nodes}, "animation": {}}


def template(storage: Storage, name: str, **columns: Any) -> Template:
    """Store a document; return a template of it, which is not stored yet."""
    key = f"documents/{name}.json"
    storage.put_bytes(key, orjson.dumps(document(name)))
    values: dict[str, Any] = {
        "id": "tpl_card", "account_id": "acc_a", "name": name, "width": 64, "height": 64, "fps": 30,
        "duration_seconds": 1, "inputs": [], "targets": {}, "document_key": key,
    }  # fmt: skip
    return Template(**values | columns)


async def replaced(database: Database, new: Template) -> int:
    """Replace the template; return its version."""
    async with database.work() as session:
        made = await repository.replace(session, new)
        assert made is not None
        return made[0].version


async def frozen_name(under_test: FarmUnderTest, job: Job) -> str:
    assert (job.status, job.error) == ("completed", None)
    return str(orjson.loads(under_test.storage.get_bytes(str(job.document_key)))["scene"]["nodes"][0]["name"])


async def kept_versions(database: Database) -> list[int]:
    async with database.reading() as session:
        return list(await session.scalars(select(col(TemplateVersion.version)).order_by(col(TemplateVersion.version))))


async def forget_versions(database: Database) -> None:
    """Let the former versions serve renders only, as their deletion by the account does."""
    async with database.work() as session:
        for version in await session.scalars(select(col(TemplateVersion.version))):
            await repository.forget_version(session, "acc_a", "tpl_card", version)


async def test_waiting_renders_get_the_version_of_their_creation(database_url: str, tmp_path: Path) -> None:
    async with farm(database_url, tmp_path) as under_test:
        async with under_test.database.work() as session:
            session.add(template(under_test.storage, "first"))
            await session.execute(text("UPDATE queue_state SET paused_at = now()"))
        jobs = [await under_test.create(seconds=1, template_id="tpl_card")]
        for name in ("second", "third"):
            version = await replaced(under_test.database, template(under_test.storage, name))
            jobs.append(await under_test.create(seconds=1, template_id="tpl_card", template_version=version))
        async with under_test.database.work() as session:
            await session.execute(text("UPDATE queue_state SET paused_at = NULL"))
            await wake_schedulers(session)
        names = [await frozen_name(under_test, await under_test.ended(job_id)) for job_id in jobs]
        assert names == ["first", "second", "third"]


async def test_a_render_whose_version_is_gone_gets_the_newest_if_its_inputs_and_length_fit(
    database_url: str, tmp_path: Path
) -> None:
    inputs = [
        {"id": "headline", "label": "Headline", "kind": "text", "required": True},
        {"id": "size", "label": "Size", "kind": "number", "required": False},
        {"id": "photo", "label": "Photo", "kind": "image", "required": False},
    ]

    async with farm(database_url, tmp_path) as under_test:
        async with under_test.database.work() as session:
            session.add(template(under_test.storage, "newest", inputs=inputs, version=5))
        headline = {"headline": "a", "size": 4, "photo": None}
        fits, lacks, unknown, other, longer = [
            await under_test.ended(await under_test.create(seconds=seconds, template_id="tpl_card", inputs=values))
            for seconds, values in (
                (1, headline), (1, {}), (1, headline | {"color": "#fff"}), (1, headline | {"size": "4"}), (3, headline)
            )
        ]  # fmt: skip
        assert await frozen_name(under_test, fits) == "newest"
        replaced_by = "The template was replaced by a new version"
        assert (lacks.status, lacks.error) == ("failed", f"{replaced_by}: input 'headline' is required.")
        no_input = f"{replaced_by}: input 'color' is not an input of this template."
        assert (unknown.status, unknown.error) == ("failed", no_input)
        assert (other.status, other.error) == ("failed", f"{replaced_by}: input 'size' must be a number.")
        assert (longer.status, longer.error) == ("failed", f"{replaced_by}: it has 30 frames, not 90.")


async def test_a_version_and_its_document_go_once_no_open_render_is_older(database: Database, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    now = utc_now()
    first = template(storage, "first")
    async with database.work() as session:
        session.add(first)
        await session.flush()
        session.add(rows.job(first, id="job_old", created_at=now - timedelta(minutes=1)))
        session.add(rows.job(first, id="job_racing", created_at=now + timedelta(minutes=50)))
        session.add(rows.job(first, id="job_later", created_at=now + timedelta(minutes=61)))
    await replaced(database, template(storage, "second", updated_at=now))
    await forget_versions(database)
    await replaced(database, template(storage, "third", updated_at=now + timedelta(hours=2)))
    await forget_versions(database)

    async def reap(after: timedelta) -> list[int]:
        dependencies = parts_for(database, storage, [], tmp_path, ManualClock(now + after))
        await RowReaper(dependencies).tick()
        await ResultReaper(dependencies).tick()
        return await kept_versions(database)

    for job_id in ("job_old", "job_racing"):
        assert await reap(timedelta(hours=9)) == [1, 2]
        async with database.work() as session:
            job = await session.get_one(Job, job_id)
            job.status, job.finished_at = "cancelled", now
    assert await reap(timedelta(minutes=59)) == [1, 2], "a running request can still use it"
    assert await reap(timedelta(hours=9)) == [2], "job_later is older than the second replacement"
    left = {stored.key for stored in storage.listed("documents/")}
    assert {"documents/second.json", "documents/third.json"} < left
    assert "documents/first.json" not in left
    async with database.work() as session:
        job = await session.get_one(Job, "job_later")
        job.status, job.finished_at = "cancelled", now
    assert await reap(timedelta(hours=9)) == []


async def test_the_newest_former_versions_stay_until_their_template_is_deleted(
    database: Database, tmp_path: Path
) -> None:
    storage = LocalStorage(tmp_path / "storage", Links(b"secret"))
    await furnish(database, storage)
    now = utc_now()
    async with database.work() as session:
        session.add(template(storage, "v1"))
    for number in range(2, repository.RESTORABLE_MAX + 5):
        await replaced(database, template(storage, f"v{number}", updated_at=now))
    async with database.work() as session:
        assert await repository.forget_version(session, "acc_a", "tpl_card", 6)

    async def reap(hours: float = 9) -> list[int]:
        dependencies = parts_for(database, storage, [], tmp_path, ManualClock(now + timedelta(hours=hours)))
        await RowReaper(dependencies).tick()
        await ResultReaper(dependencies).tick()
        return await kept_versions(database)

    kept = [4, 5, *range(7, repository.RESTORABLE_MAX + 4)]
    assert await reap() == kept
    assert {stored.key for stored in storage.listed("documents/v")} == {
        f"documents/v{number}.json" for number in (*kept, repository.RESTORABLE_MAX + 4)
    }
    async with database.work() as session:
        assert await repository.delete(session, "acc_a", "tpl_card", now + timedelta(hours=8.5))
    assert await reap() == kept, "the template can be restored"
    assert await reap(10) == []
    assert list(storage.listed("documents/v")) == []
