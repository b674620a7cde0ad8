"""Stills: requested over Redis, prepared by the scheduler, drawn by a worker before its segments."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from farm_core.errors import BadRequest, InvalidInputs, RateLimited, Unavailable
from farm_core.rates import RateLimiter
from farm_core.redis import connect
from farm_core.settings import Settings
from farm_core.stills import StillOptions, StillSubject, exchange, request_still
from farm_core.stills.exchange import STRIKES_MAX, StillExchange, queued_still
from farm_core.stills.options import frames_of
from scheduler import ingest, scheduler, still_drawing, stills
from scheduler.media_gate import ACCOUNT_PREPARATIONS_MAX
from scheduler.still_drawing import best_worker
from scheduler.still_turns import ACCOUNT_WAITING_MAX, StillTurns, WaitingStill
from tests.attacks.test_slow_networks import tarpit
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import FarmUnderTest, Gate, farm

pytestmark = pytest.mark.service
SUBJECT = StillSubject("acc_a", "http://farm", "documents/empty.json", 1280, 720, 30, 90, 3)


@dataclass(frozen=True, slots=True)
class Asking:
    """Client side of the exchange, as in the API."""

    settings: Settings
    rates: RateLimiter
    stills: StillExchange


@asynccontextmanager
async def asking(
    database_url: str, redis_url: str, folder: Path, per_minute: int = 100
) -> AsyncIterator[tuple[FarmUnderTest, Asking]]:
    with pytest.MonkeyPatch.context() as patched:
        # On a busy machine, answers and frames can take longer.
        patched.setattr(exchange, "WAIT_SECONDS", HANG_SECONDS)
        patched.setattr(still_drawing, "FRAME_SECONDS_MAX", HANG_SECONDS)
        client, stills = connect(redis_url), StillExchange(redis_url)
        asked = Asking(Settings(stills_per_minute=per_minute), RateLimiter(client), stills)
        try:
            async with farm(database_url, folder, stills=StillExchange(redis_url)) as under_test:
                yield under_test, asked
        finally:
            await stills.close()
            await client.aclose()


async def test_a_still_has_the_size_format_and_frame_that_were_asked_for(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        still = await request_still(asked, SUBJECT, StillOptions(time=1.0, width=320, format="webp"))
        assert still.media_type == "image/webp"
        assert still.warnings == ("a font is missing",)
        image = Image.open(io.BytesIO(still.picture))
        assert (image.format, image.size) == ("WEBP", (320, 180))
        ((drawn, frame),) = [one for work in under_test.works for one in work.stills]
        assert (frame, drawn.video_format.still_scale) == (30, 0.25)


async def test_a_still_of_a_template_narrower_than_a_pixel_is_drawn(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async with asking(database_url, redis_url, tmp_path) as (_, asked):
        tiny = replace(SUBJECT, width=0.5, height=0.5)
        still = await request_still(asked, tiny, StillOptions(width=32))
        assert Image.open(io.BytesIO(still.picture)).size == (32, 32)


async def test_a_sheet_shows_evenly_spaced_frames_in_rows(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        still = await request_still(asked, SUBJECT, StillOptions(contact_sheet=True, width=32))
        assert Image.open(io.BytesIO(still.picture)).size == (5 * 32, 5 * 18)
        frames = [frame for work in under_test.works for _, frame in work.stills]
        assert len(frames) == 25 and frames == sorted(frames) and frames[0] == 1 and frames[-1] == 88


@pytest.mark.usefixtures("long_window")
async def test_an_equal_poster_is_drawn_once(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async with asking(database_url, redis_url, tmp_path, per_minute=1) as (under_test, asked):
        first = await request_still(asked, SUBJECT, StillOptions())
        again = await request_still(asked, SUBJECT, StillOptions())
        assert first.picture == again.picture
        assert sum(len(work.stills) for work in under_test.works) == 1


@pytest.mark.usefixtures("long_window")
async def test_an_account_draws_no_more_than_its_rate(database_url: str, redis_url: str, tmp_path: Path) -> None:
    async with asking(database_url, redis_url, tmp_path, per_minute=1) as (_, asked):
        await request_still(asked, SUBJECT, StillOptions(frame=1))
        with pytest.raises(RateLimited):
            await request_still(asked, SUBJECT, StillOptions(frame=2))


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


async def test_a_document_that_cannot_be_drawn_is_the_callers_fault(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        frozen = StillSubject("acc_a", "http://farm", "frozen/bad.json", 64, 64, 30, 1, 1, frozen=True)
        for work in under_test.works:
            work.undrawable.add("frozen/bad.json")
        with pytest.raises(BadRequest, match="no such property"):
            await request_still(asked, frozen, StillOptions())


async def test_without_redis_the_service_is_unavailable(redis_url: str) -> None:
    client, nowhere = connect(redis_url), StillExchange("redis://127.0.0.1:1")
    with pytest.raises(Unavailable):
        await request_still(Asking(Settings(), RateLimiter(client), nowhere), SUBJECT, StillOptions())
    await client.aclose()


def test_a_still_goes_to_a_worker_that_is_free_and_warm() -> None:
    workers = ["a", "b", "c"]
    assert best_worker(workers, set(), {}, "b") == "b", "the document is open there"
    assert best_worker(workers, {"a"}, {}, None) == "b", "a renders a segment"
    assert best_worker(workers, set(), {"b": 1, "a": 1}, "b") == "c", "nothing waits there"


def order(account_id: str) -> WaitingStill:
    subject = replace(SUBJECT, account_id=account_id)
    return WaitingStill(queued_still(subject, frames_of(StillOptions(), 1280, 720, 30, 90), "png"))


def test_accounts_take_turns_and_none_has_more_than_its_share_under_way() -> None:
    turns, now = StillTurns(), time.monotonic()
    hostile = [order("acc_a") for _ in range(ACCOUNT_WAITING_MAX)]
    assert [turns.add(one) for one in hostile] == [None] * ACCOUNT_WAITING_MAX
    honest = order("acc_b")
    assert [turns.begin(now, lambda _: 2) for _ in range(3)] == [hostile[0], hostile[1], None]
    assert turns.add(honest) is None
    assert turns.begin(now, lambda _: 2) is honest
    turns.end(hostile[0])
    assert turns.begin(now, lambda _: 2) is hostile[2]
    assert turns.begin(now + 60, lambda _: 9) is None, "nobody waits for the others any longer"


def test_the_oldest_request_of_the_account_with_the_most_leaves_for_a_new_one() -> None:
    turns = StillTurns()
    floods = [[order(f"acc_{account}") for _ in range(ACCOUNT_WAITING_MAX)] for account in range(8)]
    for flood in floods:
        assert [turns.add(one) for one in flood] == [None] * ACCOUNT_WAITING_MAX
    assert turns.add(order("acc_3")) is floods[3][0], "an account with too many"
    assert turns.add(order("acc_honest")) is not None, "all have too many together"
    began = {turns.begin(time.monotonic(), lambda account: account == "acc_honest")}
    assert [one.account_id for one in began if one] == ["acc_honest"]


async def test_a_still_is_drawn_while_another_accounts_slow_ones_wait(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    """The workers are free, but the hostile account's stills use the scheduler's room."""
    go_on = asyncio.Event()

    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        quick = under_test.dependencies.executor.still

        async def slow(assignment: Any, worker_id: str) -> Any:
            if assignment.account_id == "acc_a":
                await go_on.wait()
            return await quick(assignment, worker_id)

        under_test.dependencies.executor.still = slow  # type: ignore[method-assign]
        hostile = [asyncio.create_task(request_still(asked, SUBJECT, StillOptions(frame=frame))) for frame in range(40)]
        async with asyncio.timeout(HANG_SECONDS):
            assert (await request_still(asked, replace(SUBJECT, account_id="acc_b"), StillOptions())).picture
        go_on.set()
        await asyncio.gather(*hostile, return_exceptions=True)  # on a busy machine, some may wait too long


async def test_an_account_whose_stills_hold_workers_has_no_more_drawn(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(still_drawing, "POLL_SECONDS", 0.02)
    go_on, restarted = threading.Event(), []

    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):

        def held_up(_: object) -> None:
            assert go_on.wait(HANG_SECONDS)

        def restart(worker_id: str, *, is_blameless: bool = False) -> None:
            restarted.append((worker_id, is_blameless))
            go_on.set()

        for work in under_test.works:
            work.before_still = held_up
        under_test.dependencies.executor.restart = restart  # type: ignore[method-assign]
        with monkeypatch.context() as impatient:
            impatient.setattr(still_drawing, "FRAME_SECONDS_MAX", 0.1)
            for frame in range(STRIKES_MAX):
                go_on.clear()
                with pytest.raises(BadRequest, match="longer than"):
                    await request_still(asked, SUBJECT, StillOptions(frame=frame))
        assert [blameless for _, blameless in restarted] == [True] * STRIKES_MAX, "no segment is the reason"
        with pytest.raises(RateLimited, match="took workers too long"):
            await request_still(asked, SUBJECT, StillOptions(frame=9))
        go_on.set()
        assert (await request_still(asked, replace(SUBJECT, account_id="acc_b"), StillOptions())).picture


async def test_an_account_whose_stills_are_slow_leaves_workers_to_others(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames of 19 s, none of which is too slow, held every worker for as long as the account asked for them."""
    monkeypatch.setattr(still_drawing, "POLL_SECONDS", 0.02)
    go_on, held = threading.Event(), threading.Event()

    def hold(assignment: Any) -> None:
        if assignment.account_id == "acc_a":
            held.set()
            assert go_on.wait(HANG_SECONDS)

    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        for work in under_test.works:
            work.before_still = hold
        first = asyncio.create_task(request_still(asked, SUBJECT, StillOptions(frame=0)))
        try:
            assert await asyncio.to_thread(held.wait, HANG_SECONDS / 4)
            async with asyncio.timeout(HANG_SECONDS / 4):
                while not under_test.scheduler.isolation.evidence.slow_stills_at:  # noqa: ASYNC110 - a worker thread draws
                    await asyncio.sleep(0.02)
            slow = [
                asyncio.create_task(request_still(asked, SUBJECT, StillOptions(frame=frame))) for frame in range(1, 9)
            ]
            for frame in range(4):
                async with asyncio.timeout(HANG_SECONDS / 4):
                    other = replace(SUBJECT, account_id="acc_b")
                    assert (await request_still(asked, other, StillOptions(frame=frame))).picture
        finally:
            go_on.set()
        await asyncio.gather(first, *slow)


async def test_a_job_is_rendered_while_slow_stills_of_another_account_are_requested_at_once(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    """The first frames of twenty requests held both workers for 20 s, and a title card took ten times as long."""
    go_on, held = threading.Event(), threading.Event()

    def hold(assignment: Any) -> None:
        held.set()
        assert go_on.wait(HANG_SECONDS)

    async with asking(database_url, redis_url, tmp_path) as (under_test, asked):
        for work in under_test.works:
            work.before_still = hold
        flood = [asyncio.create_task(request_still(asked, SUBJECT, StillOptions(frame=frame))) for frame in range(20)]
        try:
            assert await asyncio.to_thread(held.wait, HANG_SECONDS / 4)
            job = await under_test.create(account_id="acc_b")
            async with asyncio.timeout(HANG_SECONDS / 2):
                assert (await under_test.ended(job)).status == "completed"
        finally:
            go_on.set()
        await asyncio.gather(*flood, return_exceptions=True)


async def test_stills_whose_media_never_arrive_take_no_place_of_others(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stills, "AT_ONCE_MAX", 4)
    monkeypatch.setattr(stills, "PREPARATION_SECONDS", 0.05)
    monkeypatch.setattr(ingest, "INGEST_SECONDS", HANG_SECONDS)
    target = {"logo": {"node_id": "logo", "component_type": "Transform", "property": "src"}}
    fields = [{"id": "logo", "label": "Logo", "kind": "image", "required": True}]

    async with asking(database_url, redis_url, tmp_path) as (_, asked), tarpit() as held:
        waiting = [
            asyncio.create_task(request_still(asked, subject, StillOptions()))
            for account in range(4)
            for number in range(6)
            for subject in [
                replace(
                    SUBJECT, account_id=f"acc_{account}", inputs={"logo": f"{held.url}/{account}/{number}.png"},
                    template_inputs=fields, template_targets=target,
                )
            ]
        ]  # fmt: skip
        async with asyncio.timeout(HANG_SECONDS / 2):
            await held.reached.wait()
            honest = replace(SUBJECT, account_id="acc_b")
            assert (await request_still(asked, honest, StillOptions())).picture
        assert held.most <= 4 * ACCOUNT_PREPARATIONS_MAX
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_request_that_is_cancelled_at_any_step_ends(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was cancelled while it was sent waited for its answer all the same."""
    monkeypatch.setattr(exchange, "WAIT_SECONDS", 10 * HANG_SECONDS)
    stills, client = StillExchange(redis_url), connect(redis_url)
    asked, requests = Asking(Settings(stills_per_minute=1000), RateLimiter(client), stills), []
    for steps in [*range(60)] * 3:
        requests.append(asyncio.create_task(request_still(asked, SUBJECT, StillOptions())))
        for _ in range(steps):
            await asyncio.sleep(0)
        requests[-1].cancel()
    _, left = await asyncio.wait(requests, timeout=HANG_SECONDS)
    assert not left
    await stills.close()
    await client.aclose()


async def test_a_scheduler_that_stops_leaves_no_connection_open(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease reaper counted waiting stills after the service of stills had closed the connections."""
    monkeypatch.setattr(scheduler, "DRAIN_SECONDS", HANG_SECONDS)
    gate, stopped = Gate(), asyncio.Event()

    async def count_while_tasks_end(under_test: FarmUnderTest) -> None:
        await asyncio.wait_for(stopped.wait(), HANG_SECONDS)
        reaper = under_test.scheduler.lease_reaper
        reaper.ticked.clear()
        reaper.wake()
        await asyncio.wait_for(reaper.ticked.wait(), HANG_SECONDS)
        gate.open()

    async with connect(redis_url) as client:
        async with farm(database_url, tmp_path, gate, stills=StillExchange(redis_url)) as under_test:
            stop = under_test.scheduler.stills.stop

            async def stop_and_report() -> None:
                await stop()
                stopped.set()

            under_test.scheduler.stills.stop = stop_and_report  # type: ignore[method-assign]
            await under_test.create(seconds=1)
            await gate.reached()
            counting = asyncio.create_task(count_while_tasks_end(under_test))
        await counting
        async with asyncio.timeout(HANG_SECONDS):
            while len(await client.client_list()) > 1:  # noqa: ASYNC110 - Redis notices the end of others later
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_still_is_drawn_though_the_clock_of_its_scheduler_is_wrong(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    async with asking(database_url, redis_url, tmp_path) as (_, asked):
        machine_time = time.time
        monkeypatch.setattr(
            exchange, "time", SimpleNamespace(monotonic=time.monotonic, time=lambda: machine_time() + 3600 * hours)
        )
        asked_for = queued_still(SUBJECT, frames_of(StillOptions(), 1280, 720, 30, 90), "png")
        monkeypatch.undo()
        answer = await asked.stills.ask(asked_for)
        assert answer is not None and answer.picture
