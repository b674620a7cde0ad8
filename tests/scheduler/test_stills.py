"""Stills: asked for over Redis, prepared by the scheduler, drawn by a worker before any segment."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from farm_core.errors import BadRequest, InvalidInputs, RateLimited, Unavailable
from farm_core.rates import RateLimiter
from farm_core.redis import connect
from farm_core.settings import Settings
from farm_core.stills import StillOptions, StillSubject, request_still
from farm_core.stills.exchange import StillExchange
from scheduler.stills import best_worker
from tests.scheduler.farm import FarmUnderTest, farm

pytestmark = pytest.mark.service
SUBJECT = StillSubject("acc_a", "http://farm", "documents/empty.json", 1280, 720, 30, 90, 3)


@dataclass(frozen=True, slots=True)
class Asking:
    """The asking side, as the API has it."""

    settings: Settings
    rates: RateLimiter
    stills: StillExchange


@asynccontextmanager
async def asking(
    database_url: str, redis_url: str, folder: Path, per_minute: int = 100
) -> AsyncIterator[tuple[FarmUnderTest, Asking]]:
    client, exchange = connect(redis_url), StillExchange(redis_url)
    asked = Asking(Settings(stills_per_minute=per_minute), RateLimiter(client), exchange)
    async with farm(database_url, folder, stills=StillExchange(redis_url)) as under_test:
        yield under_test, asked
    await exchange.close()
    await client.aclose()


def test_a_still_has_the_size_format_and_frame_that_were_asked_for(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async def run() -> None:
        async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
            still = await request_still(asked, SUBJECT, StillOptions(time=1.0, width=320, format="webp"))
            assert still.media_type == "image/webp"
            assert still.warnings == ("a font is missing",)
            image = Image.open(io.BytesIO(still.picture))
            assert (image.format, image.size) == ("WEBP", (320, 180))
            assert [frame for work in under_test.works for _, frame in work.stills] == [30]

    asyncio.run(run())


def test_a_sheet_shows_evenly_spaced_frames_in_rows(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
            still = await request_still(asked, SUBJECT, StillOptions(contact_sheet=True, width=32))
            assert Image.open(io.BytesIO(still.picture)).size == (5 * 32, 5 * 18)
            frames = [frame for work in under_test.works for _, frame in work.stills]
            assert len(frames) == 25 and frames == sorted(frames) and frames[0] == 1 and frames[-1] == 88

    asyncio.run(run())


def test_an_equal_poster_is_drawn_once(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with asking(database_url, redis_url, tmp_path, per_minute=1) as (under_test, asked):
            first = await request_still(asked, SUBJECT)
            again = await request_still(asked, SUBJECT)
            assert first.picture == again.picture
            assert sum(len(work.stills) for work in under_test.works) == 1

    asyncio.run(run())


def test_an_account_draws_no_more_than_its_rate(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with asking(database_url, redis_url, tmp_path, per_minute=1) as (_, asked):
            await request_still(asked, SUBJECT, StillOptions(frame=1))
            with pytest.raises(RateLimited):
                await request_still(asked, SUBJECT, StillOptions(frame=2))

    asyncio.run(run())


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (StillOptions(frame=90), "frame"),
        (StillOptions(time=3.5), "time"),
        (StillOptions(time=1, frame=1), "time"),
        (StillOptions(width=5000), "width"),
        (StillOptions(width=4), "width"),
    ],
)
def test_options_that_the_subject_does_not_have_are_named(redis_url: str, options: StillOptions, field: str) -> None:
    async def run() -> None:
        client, exchange = connect(redis_url), StillExchange(redis_url)
        await request_still(Asking(Settings(), RateLimiter(client), exchange), SUBJECT, options)

    with pytest.raises(InvalidInputs) as refused:
        asyncio.run(run())
    assert [fault["field"] for fault in refused.value.extras["errors"]] == [field]  # type: ignore[attr-defined]


def test_a_document_that_cannot_be_drawn_is_the_callers_fault(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async def run() -> None:
        async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
            frozen = StillSubject("acc_a", "http://farm", "frozen/bad.json", 64, 64, 30, 1, 1, frozen=True)
            for work in under_test.works:
                work.undrawable.add("frozen/bad.json")
            with pytest.raises(BadRequest, match="no such property"):
                await request_still(asked, frozen)

    asyncio.run(run())


def test_without_redis_the_service_is_unavailable(redis_url: str) -> None:
    async def run() -> None:
        client, nowhere = connect(redis_url), StillExchange("redis://127.0.0.1:1")
        with pytest.raises(Unavailable):
            await request_still(Asking(Settings(), RateLimiter(client), nowhere), SUBJECT)
        await client.aclose()

    asyncio.run(run())


def test_a_still_goes_to_a_worker_that_is_free_and_warm() -> None:
    workers = ["a", "b", "c"]
    assert best_worker(workers, set(), {}, "b") == "b", "the document is open there"
    assert best_worker(workers, {"a"}, {}, None) == "b", "a renders a segment"
    assert best_worker(workers, set(), {"b": 1, "a": 1}, "b") == "c", "nothing waits there"
