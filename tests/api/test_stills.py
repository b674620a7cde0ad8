"""`/v1/templates/{id}/still` and `/v1/renders/{id}/thumbnail`."""

from __future__ import annotations

import io
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image
from redis import Redis
from redis.client import Monitor

from farm_core import redis
from farm_core.stills import exchange
from scheduler import still_drawing
from tests.api.workers import drawing
from tests.api.world import World, text_template
from tests.patience import HANG_SECONDS
from tests.scheduler.farm import DummyWork

pytestmark = pytest.mark.service


def size_of(answer: Any) -> tuple[str | None, tuple[int, int]]:
    assert answer.status_code == 200, answer.text
    image = Image.open(io.BytesIO(answer.content))
    return image.format, image.size


def test_every_template_has_a_poster_that_can_be_asked_for_conditionally(own_world: World, worker: DummyWork) -> None:
    ada = own_world.account()
    template = ada.template()
    poster = ada.get(f"/templates/{template}/still")
    assert size_of(poster) == ("PNG", (640, 360))
    assert poster.headers["Content-Type"] == "image/png"
    again = ada.get(f"/templates/{template}/still", headers={"If-None-Match": poster.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert len(worker.stills) == 1, "an equal poster is kept"
    assert ada.usage()["renderedMinutes"] == ada.usage()["reservedRenderMinutes"] == 0


def test_a_still_takes_inputs_and_refuses_them_as_a_render_does(own_world: World, worker: DummyWork) -> None:
    ada = own_world.account()
    template = ada.template()
    wrong = {"headline": 7, "size": "12", "extra": "?"}
    still = ada.post(f"/templates/{template}/still", json={"inputs": wrong})
    render = ada.render(template, inputs=wrong)
    assert still.status_code == render.status_code == 400
    assert still.json()["errors"] == render.json()["errors"]

    plain = text_template(ada)
    drawn = ada.post(
        f"/templates/{plain}/still", json={"inputs": {"headline": "Hi"}, "frame": 3, "width": 64, "format": "jpeg"}
    )
    assert size_of(drawn) == ("JPEG", (64, 36))
    assert worker.stills[-1][1] == 3

    # JSON has one kind of number, and null is an empty field of a form.
    drawn = ada.post(f"/templates/{plain}/still", json={"frame": 2.0, "width": 64.0, "format": None})
    assert size_of(drawn) == ("PNG", (64, 36))
    assert worker.stills[-1][1] == 2
    refused = ada.post(f"/templates/{plain}/still", json={"frame": 2.5, "width": True})
    assert [one["field"] for one in refused.json()["errors"]] == ["frame", "width"]


def test_a_query_may_name_inputs_as_json(own_world: World, worker: DummyWork) -> None:
    ada = own_world.account()
    path = f"/templates/{text_template(ada)}/still"
    inputs = {"headline": "Grüße & mehr"}
    queried = ada.get(path, params={"inputs": json.dumps(inputs), "frame": 3})
    posted = ada.post(path, json={"inputs": inputs, "frame": 3})
    assert size_of(queried) == size_of(posted) == ("PNG", (640, 360))
    ada.get(path, params={"frame": 3})
    of_query, of_body, published = (assignment.document_key for assignment, _ in worker.stills)
    assert of_query == of_body != published


@pytest.mark.parametrize(
    ("inputs", "field"), [("headline=Hi", "inputs"), ("", "inputs"), ("[]", "inputs"), ('{"other": 1}', "other")]
)
def test_inputs_of_a_query_are_refused_as_those_of_a_body(world: World, inputs: str, field: str) -> None:
    ada = world.account()
    answer = ada.get(f"/templates/{text_template(ada)}/still", params={"inputs": inputs})
    assert (answer.status_code, answer.json()["message"]) == (400, "Invalid inputs.")
    assert [one["field"] for one in answer.json()["errors"]] == [field]


@pytest.mark.parametrize(
    ("query", "field"),
    [("frame=90", "frame"), ("time=4", "time"), ("time=1&frame=1", "time"), ("width=9999", "width"), ("format=gif", "format")],
)  # fmt: skip
def test_inputs_that_the_template_lacks_are_refused(world: World, query: str, field: str) -> None:
    ada = world.account()
    answer = ada.get(f"/templates/{ada.template()}/still?{query}")
    assert answer.status_code == 400, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == [field]


def test_stills_need_the_scope_of_what_they_show_and_stay_within_the_account(world: World) -> None:
    ada, eve = world.account(), world.account("eve")
    template, job = ada.template(), ada.job()
    assert ada.new_key(["renders:read"]).get(f"/templates/{template}/still").status_code == 403
    assert ada.new_key(["templates:read"]).get(f"/renders/{job}/thumbnail").status_code == 403
    assert eve.get(f"/templates/{template}/still").status_code == 404
    assert eve.get(f"/renders/{job}/thumbnail").status_code == 404


def test_a_finished_render_has_a_thumbnail_and_a_sheet(own_world: World, worker: DummyWork) -> None:
    ada = own_world.account()
    job = ada.job()
    early = ada.get(f"/renders/{job}/thumbnail")
    assert (early.status_code, early.json()["status"]) == (409, "queued")
    own_world.move(job, "completed", video_key="results/x.mp4", document_key="frozen/x.json", progress=100)
    assert size_of(ada.get(f"/renders/{job}/thumbnail?width=128&time=1")) == ("JPEG", (128, 72))
    assert size_of(ada.get(f"/renders/{job}/thumbnail?sprite=true&format=webp")) == ("WEBP", (800, 450))
    sheet = Image.open(io.BytesIO(ada.get(f"/renders/{job}/thumbnail?sprite=true&format=png").content))
    frames = [(2 * number + 1) * 90 // 50 for number in range(25)]
    assert [index for _, index in worker.stills[-25:]] == frames
    middles = [(160 * (number % 5) + 80, 90 * (number // 5) + 45) for number in range(25)]
    assert [sheet.getpixel(middle) for middle in middles] == [(10 * index % 256,) * 3 for index in frames]


@pytest.mark.usefixtures("long_window")
def test_stills_are_limited_for_each_account(start: Any, tmp_path: Path) -> None:
    limited = start(stills_per_minute=1)
    ada, bob = limited.account(), limited.account("bob")
    with drawing(limited, tmp_path):
        path = f"/templates/{ada.template()}/still"
        assert ada.get(f"{path}?frame=1").status_code == 200
        refused = ada.get(f"{path}?frame=2")
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limit_exceeded")
        assert bob.get(f"/templates/{bob.template()}/still?frame=1").status_code == 200


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let callers wait longer and frames take longer, for a busy machine."""
    monkeypatch.setattr(exchange, "WAIT_SECONDS", HANG_SECONDS)
    monkeypatch.setattr(still_drawing, "FRAME_SECONDS_MAX", HANG_SECONDS)


@contextmanager
def held(worker: DummyWork) -> Iterator[threading.Event]:
    """Let the worker draw no still until the block ends. Yield the event that it has begun one."""
    began, go_on = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        began.set()
        assert go_on.wait(HANG_SECONDS)

    worker.before_still = wait
    try:
        yield began
    finally:
        go_on.set()


def test_the_oldest_of_too_many_requests_of_an_account_is_refused(
    patience: None, own_world: World, worker: DummyWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer preview takes the place of an older one, which probably nobody waits for any longer."""
    monkeypatch.setattr(exchange, "ACCOUNT_ASKING_MAX", 2)
    ada, bob = own_world.account(), own_world.account("bob")
    path, other = f"/templates/{ada.template()}/still", f"/templates/{bob.template()}/still"
    with ThreadPoolExecutor() as pool, held(worker) as began:
        oldest = pool.submit(ada.get, f"{path}?frame=1")
        assert began.wait(HANG_SECONDS)
        newer = [pool.submit(ada.get, f"{path}?frame={frame}") for frame in (2, 3)]
        beside = pool.submit(bob.get, f"{other}?frame=4")
        refused = oldest.result(HANG_SECONDS)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert refused.json()["message"] == "Too many stills of this account wait. Try again in 1 s."
    assert [one.result(HANG_SECONDS).status_code for one in (*newer, beside)] == [200] * 3


def test_stills_that_wait_leave_connections_to_redis_for_other_accounts(
    patience: None, own_world: World, worker: DummyWork
) -> None:
    bob = own_world.account("bob")
    poster = f"/templates/{bob.template()}/still"
    assert bob.get(poster).status_code == 200
    waiting = [own_world.account(f"waits{number}") for number in range(3)]
    paths = [f"/templates/{one.template()}/still" for one in waiting]
    with ThreadPoolExecutor(33) as pool, held(worker), redis_commands(own_world) as commands:
        asked = [
            pool.submit(one.get, f"{path}?frame={frame}")
            for one, path in zip(waiting, paths, strict=True)
            for frame in range(11)
        ]
        for _ in asked:
            wait_for(commands, "RPUSH stills:requests")
        with Redis.from_url(str(own_world.settings.redis_url)) as client:
            receiving = [one for one in client.client_list() if one["cmd"] == "blpop"]
        assert len(receiving) <= 2, "the API and the scheduler"
        assert bob.get(poster).status_code == 200
    assert {one.result(HANG_SECONDS).status_code for one in asked} == {200}


def test_a_still_whose_caller_has_closed_the_connection_is_not_drawn(
    patience: None, own_world: World, worker: DummyWork
) -> None:
    ada = own_world.account()
    path = f"/templates/{ada.template()}/still"
    with ThreadPoolExecutor() as pool, held(worker) as began, redis_commands(own_world) as commands:
        first = pool.submit(ada.get, f"{path}?frame=1")
        wait_for(commands, "RPUSH stills:requests")
        assert began.wait(HANG_SECONDS)
        address = urlsplit(own_world.origin)
        with socket.create_connection((str(address.hostname), int(address.port or 0))) as leaving:
            lines = [
                f"GET /api/v1{path}?frame=2 HTTP/1.1",
                "Host: farm",
                *(f"{k}: {v}" for k, v in ada.headers.items()),
            ]
            leaving.sendall("\r\n".join([*lines, "", ""]).encode())
            wait_for(commands, "RPUSH stills:requests")
        wait_for(commands, "SET stills:left:")
        last = pool.submit(ada.get, f"{path}?frame=3")
        wait_for(commands, "RPUSH stills:requests")
    assert [one.result(HANG_SECONDS).status_code for one in (first, last)] == [200] * 2
    assert [frame for _, frame in worker.stills] == [1, 3]


@contextmanager
def redis_commands(world: World) -> Iterator[Monitor]:
    """Yield the commands that Redis receives."""
    with (
        Redis.from_url(str(world.settings.redis_url), socket_timeout=HANG_SECONDS) as client,
        client.monitor() as found,
    ):
        yield found


def wait_for(commands: Monitor, start: str) -> None:
    """Read commands until one begins so."""
    while not str(commands.next_command()["command"]).startswith(start):  # type: ignore[no-untyped-call]
        pass


def test_a_still_is_refused_in_seconds_while_redis_accepts_connections_and_does_not_answer(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (redis, exchange):
        monkeypatch.setattr(module, "ANSWER_SECONDS", 0.25)  # tests wait longer for a Redis on a busy machine
    monkeypatch.setattr(exchange, "WAIT_SECONDS", 2 * HANG_SECONDS)
    with socket.create_server(("127.0.0.1", 0), backlog=512) as paused:
        ada = start(redis_url=f"redis://127.0.0.1:{paused.getsockname()[1]}/0").account()
        template = ada.template()
        refused = ada.get(f"/templates/{template}/still")  # waits for HANG_SECONDS at most
    assert refused.status_code == 503, refused.text
