"""Media of a job at ingest: fetched once, counted once, refused with a reason fit for callers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update
from sqlmodel import col

from farm_core.accounts.models import Account
from farm_core.assets.models import Asset
from farm_core.assets.repository import LIFETIME
from farm_core.db.queue_models import AccountQueue
from farm_core.jobs.models import Job
from farm_core.templates.models import Template
from farm_core.usage.models import ObjectCharge, Usage
from scheduler import ingest
from tests.scheduler.farm import FarmUnderTest, farm

pytestmark = pytest.mark.service
PICTURE = (Path(__file__).resolve().parents[2] / "examples" / "media" / "logo.png").read_bytes()
VIDEO = (Path(__file__).resolve().parents[2] / "examples" / "media" / "footage.mp4").read_bytes()
SOUND = (Path(__file__).resolve().parents[2] / "examples" / "media" / "jingle.m4a").read_bytes()
LAYER = {
    "id": "logo", "name": "Logo", "parent": "root", "children": [], "visible": True,
    "components": [{"id": "c", "type": "Transform", "props": {"__kind": "image", "src": ""}}],
}  # fmt: skip
ROOT_NODE = {"id": "root", "name": "Main", "parent": None, "children": ["logo"], "visible": True, "components": []}
DOCUMENT = {"version": "1.8.0", "scene": {"nodes": [ROOT_NODE, LAYER]}, "animation": {}}


class MediaServer:
    """Server with one picture at /logo.png and other added files. It counts requests."""

    def __init__(self) -> None:
        self.origin = ""
        self.requests = 0
        self.files = {"/logo.png": PICTURE, "/page": b"<html>not a picture</html>", "/torn.png": PICTURE[:200]}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        self.requests += 1
        body = self.files.get(path)
        status = "404 Not Found" if body is None else "200 OK"
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body or b'')}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + (body or b""))
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def ingesting(database_url: str, folder: Path) -> AsyncIterator[tuple[FarmUnderTest, MediaServer]]:
    media = MediaServer()
    server = await asyncio.start_server(media.serve, "127.0.0.1", 0)
    media.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, farm(database_url, folder) as under_test:
        under_test.storage.put_bytes("documents/logo.json", orjson.dumps(DOCUMENT))
        target = {"node_id": "logo", "component_type": "Transform", "property": "src"}
        async with under_test.database.work() as session:
            session.add(
                Template(
                    id="tpl_logo",
                    account_id="acc_a",
                    name="t",
                    width=1280,
                    height=720,
                    fps=30,
                    duration_seconds=1,
                    inputs=[{"id": "logo", "label": "Logo", "kind": "image", "required": True}],
                    targets={"logo": target},
                    document_key="documents/logo.json",
                )
            )
        yield under_test, media


async def rendered(under_test: FarmUnderTest, source: str, **more: Any) -> Job:
    job_id = await under_test.create(seconds=1, template_id="tpl_logo", inputs={"logo": source}, **more)
    return await under_test.ended(job_id)


async def counted_bytes(under_test: FarmUnderTest) -> int:
    async with under_test.database.work() as session:
        found = await session.execute(select(col(Usage.asset_bytes)).where(col(Usage.account_id) == "acc_a"))
        return int(found.scalar_one())


async def test_a_picture_is_fetched_counted_once_and_named_by_its_content(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        job = await rendered(under_test, f"{media.origin}/logo.png")
        assert (job.status, job.error, job.ingest_bytes) == ("completed", None, len(PICTURE))
        assert await counted_bytes(under_test) == len(PICTURE)
        ((source, key),) = dict(job.media or {}).items()
        assert source == f"/files/{key}"
        assert under_test.storage.get_bytes(key) == PICTURE
        frozen = orjson.loads(under_test.storage.get_bytes(str(job.document_key)))
        assert frozen["scene"]["nodes"][1]["components"][0]["props"]["src"] == source


async def test_the_same_picture_from_another_address_is_the_same_job(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        media.files["/other.png"] = PICTURE
        first = await rendered(under_test, f"{media.origin}/logo.png")
        second = await rendered(under_test, f"{media.origin}/other.png")
        assert first.video_key == second.video_key


async def test_media_that_would_soon_be_deleted_are_stored_anew(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        job = await rendered(under_test, f"{media.origin}/logo.png")
        keys = [*dict(job.media or {}).values(), str(job.document_key)]
        files = [tmp_path / "storage" / "objects" / key for key in keys]
        for file, days in ((files[0], 29), (files[1], 1)):
            written = time.time() - days * 24 * 3600
            os.utime(file, (written, written))
        await rendered(under_test, f"{media.origin}/logo.png")
        ages = [time.time() - file.stat().st_mtime for file in files]
        assert [round(age / 3600) for age in ages] == [0, 24]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/missing.png", "The media of input 'logo' could not be fetched: The server answered 404."),
        ("/page", "The media of input 'logo' cannot be used."),
        ("/torn.png", "The media of input 'logo' cannot be used."),
    ],
)
async def test_media_that_cannot_be_had_fails_the_job_with_a_reason(
    database_url: str, tmp_path: Path, path: str, reason: str
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        job = await rendered(under_test, media.origin + path)
        assert job.status == "failed"
        assert str(job.error).startswith(reason)
        assert "127.0.0.1" not in str(job.error) and str(tmp_path) not in str(job.error)


@pytest.mark.parametrize(
    ("path", "fault"), [("/missing.png", "could not be fetched"), ("/clip", "cannot be used: it is no")]
)
async def test_a_failed_job_names_the_label_of_the_input(
    database_url: str, tmp_path: Path, path: str, fault: str
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        media.files["/clip"] = VIDEO
        async with under_test.database.work() as session:
            inputs = [{"id": "logo", "label": "Emblem of the team", "kind": "image", "required": True}]
            await session.execute(update(Template).values(inputs=inputs))
        job = await rendered(under_test, media.origin + path)
        assert str(job.error).startswith(f"The media of input 'Emblem of the team' (logo) {fault}")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Backdrop " + "x" * 100, f"layer “Backdrop {'x' * 71}”"), ("", "a layer without a name")],
    ids=["a long name", "no name"],
)
async def test_a_failed_job_names_the_layer_whose_media_cannot_be_fetched(
    database_url: str, tmp_path: Path, name: str, shown: str
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        transform = {
            "id": "c",
            "type": "Transform",
            "props": {"__kind": "image", "src": f"{media.origin}/gone.png"},
        }
        backdrop = {**LAYER, "id": "b", "name": name, "components": [transform]}
        root = {**ROOT_NODE, "children": ["logo", "b"]}
        document = {**DOCUMENT, "scene": {"nodes": [root, LAYER, backdrop]}}
        under_test.storage.put_bytes("documents/logo.json", orjson.dumps(document))
        job = await rendered(under_test, f"{media.origin}/logo.png")
        assert job.status == "failed"
        assert str(job.error).startswith(f"The media of {shown} could not be fetched: The server answered 404.")


@pytest.mark.parametrize(
    ("kind", "file", "error"),
    [
        ("image", VIDEO, "it is no picture; an image input takes PNG, JPEG, WebP, GIF or SVG."),
        ("media", VIDEO, None),
        ("media", SOUND, "it is a sound; a media input takes pictures and videos."),
    ],
)
async def test_media_that_its_input_does_not_take_fail_the_job(
    database_url: str, tmp_path: Path, kind: str, file: bytes, error: str | None
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        media.files["/clip"] = file
        async with under_test.database.work() as session:
            inputs = [{"id": "logo", "label": "Logo", "kind": kind, "required": True}]
            await session.execute(update(Template).values(inputs=inputs))
        job = await rendered(under_test, f"{media.origin}/clip")
        assert (job.status, job.error) == (
            ("completed", None) if error is None else ("failed", f"The media of input 'logo' cannot be used: {error}")
        )


async def test_media_beyond_the_accounts_limit_are_refused(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        async with under_test.database.work() as session:
            await session.execute(update(Account).values(max_upload_bytes=100))
        job = await rendered(under_test, f"{media.origin}/logo.png")
        assert str(job.error).endswith("The file is larger than 100 bytes.")


@pytest.mark.parametrize(("limit", "most"), [("BYTES_MAX", len(PICTURE)), ("SOURCES_MAX", 1)])
async def test_media_beyond_a_limit_of_the_job_fail_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        monkeypatch.setattr(ingest, limit, most)
        assert (await rendered(under_test, f"{media.origin}/logo.png")).status == "completed"
        monkeypatch.setattr(ingest, limit, most - 1)
        job = await rendered(under_test, f"{media.origin}/logo.png")
        assert job.status == "failed"
        assert "a render can fetch no more" in str(job.error)


async def uploaded(under_test: FarmUnderTest, account_id: str, lifetime: timedelta) -> None:
    """Store the upload `assets/ACCOUNT/logo.png`."""
    key, expires_at = f"assets/{account_id}/logo.png", under_test.dependencies.clock.now() + lifetime
    under_test.storage.put_bytes(key, PICTURE)
    async with under_test.database.work() as session:
        session.add(
            Asset(
                id=account_id, account_id=account_id, storage_key=key, bytes=1, mime="image/png", expires_at=expires_at
            )
        )


async def test_an_upload_of_another_account_is_not_to_be_had(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, _):
        await uploaded(under_test, "acc_b", LIFETIME)
        await uploaded(under_test, "acc_a", timedelta(0))
        for owner in ("acc_b", "acc_a"):
            job = await rendered(under_test, f"http://farm/files/assets/{owner}/logo.png")
            assert job.status == "failed"
            assert "no such upload, or it has expired." in str(job.error)


async def test_an_upload_without_its_file_is_said_to_be_deleted_and_leaves_no_temporary_file(
    database_url: str, tmp_path: Path
) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, _):
        await uploaded(under_test, "acc_a", LIFETIME)
        under_test.storage.delete("assets/acc_a/logo.png")
        job = await rendered(under_test, "http://farm/files/assets/acc_a/logo.png")
        assert "the upload has been deleted" in str(job.error)
        assert list(under_test.dependencies.scratch.iterdir()) == []


async def charges(under_test: FarmUnderTest) -> dict[str, int]:
    """Return charged bytes by key. Assert that the account's row of `account_queues` has their sum."""
    async with under_test.database.reading() as session:
        owned = select(col(ObjectCharge.key), col(ObjectCharge.bytes)).where(col(ObjectCharge.account_id) == "acc_a")
        found = {row[0]: row[1] for row in await session.execute(owned)}
        kept = select(col(AccountQueue.stored_bytes)).where(col(AccountQueue.account_id) == "acc_a")
        assert await session.scalar(kept) == sum(found.values())
    return found


async def test_objects_of_a_job_count_once_and_a_full_account_gets_no_more(database_url: str, tmp_path: Path) -> None:
    async with ingesting(database_url, tmp_path) as (under_test, media):
        first = await rendered(under_test, f"{media.origin}/logo.png")
        counted = await charges(under_test)
        assert first.media is not None and first.document_key is not None and first.video_key is not None
        described = {key: under_test.storage.describe(key).bytes for key in counted}
        assert set(counted) == {*first.media.values(), first.document_key, first.video_key}
        assert counted[first.document_key] == described[first.document_key]
        assert [counted[key] for key in first.media.values()] == [len(PICTURE)]
        again = await rendered(under_test, f"{media.origin}/logo.png")
        assert (again.status, again.video_key) == ("completed", first.video_key)
        assert await charges(under_test) == counted, "the same objects count once"
        async with under_test.database.work() as session:
            await session.execute(update(Account).values(max_storage_bytes=sum(counted.values())))
        refused = await rendered(under_test, f"{media.origin}/logo.png?2")
        assert refused.status == "failed"
        assert refused.error is not None and "storage is full" in refused.error
        assert await charges(under_test) == counted
