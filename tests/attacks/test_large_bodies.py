"""Bodies that once blocked the API for half a second each, or filled its memory and disk."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import pytest

from api import server
from api.app import LARGE_BODIES, UPLOADS
from api.large_bodies import LARGE_BYTES
from tests.api.world import Someone, World, picture, template_body
from tests.attacks.test_server import answer, connected
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
FILLER = "x" * LARGE_BYTES
TRIES = 8


def begun(world: World, account: Someone, path: str, body: bytes, kind: str = "application/json") -> socket.socket:
    """Start a request that lacks the last byte of its body."""
    head = (
        f"POST /api/v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: {account.headers['Authorization']}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    connection = connected(world)
    connection.sendall(head.encode() + body[:-1])
    return connection


def waiting(
    held: ExitStack, begin: Callable[[], socket.socket], last_byte: bytes, meanwhile: Callable[[], None]
) -> socket.socket:
    """Send whole requests that must wait for the unfinished ones. The server can read these first, in spite of their
    order."""
    for _ in range(TRIES):
        connection = held.enter_context(closing(begin()))
        connection.sendall(last_byte)
        meanwhile()
        if not is_answered(connection):
            return connection
    raise AssertionError("every request was answered beside those that are held")


def is_answered(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(HANG_SECONDS)


def test_a_client_that_waits_for_100_continue_is_refused_before_it_sends_a_large_body(world: World) -> None:
    announced = "Content-Type: application/json\r\nContent-Length: 20000000\r\nExpect: 100-continue"
    with closing(connected(world)) as connection:
        connection.sendall(f"POST /api/v1/renders HTTP/1.1\r\nHost: x\r\n{announced}\r\n\r\n".encode())
        received = answer(connection)
    assert received.startswith(b"HTTP/1.1 413 ") and b"larger than 10 MB" in received


def test_of_an_accounts_large_bodies_two_are_read_at_once_and_others_are_served(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "BODY_SECONDS", 600)  # of unfinished requests
    hostile, honest = world.account(), world.account()
    body = json.dumps({"name": "a", "animationData": {"text": FILLER}}).encode()
    with ExitStack() as held:
        first, *_ = (
            held.enter_context(closing(begun(world, hostile, "/animations", body))) for _ in range(LARGE_BODIES)
        )

        def others() -> None:
            for number in range(5):
                large = {"name": str(number), "animationData": {"text": FILLER}}
                assert honest.post("/animations", json=large).is_success
                assert hostile.post("/animations", json={"name": "small", "animationData": {}}).is_success

        third = waiting(held, lambda: begun(world, hostile, "/animations", body), body[-1:], others)
        first.sendall(body[-1:])
        assert first.recv(12) == third.recv(12) == b"HTTP/1.1 201"


def test_of_an_accounts_uploads_eight_are_taken_in_at_once_and_others_are_served(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "BODY_SECONDS", 600)  # of unfinished requests
    hostile, honest = world.account(), world.account()
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + picture() + b"\r\n--x--"
    kind = "multipart/form-data; boundary=x"
    with ExitStack() as held:
        first, *_ = (held.enter_context(closing(begun(world, hostile, "/assets", form, kind))) for _ in range(UPLOADS))

        def others() -> None:
            for _ in range(3):
                assert honest.upload(picture()).status_code == 201

        last = waiting(held, lambda: begun(world, hostile, "/assets", form, kind), form[-1:], others)
        first.sendall(form[-1:])
        assert first.recv(12) == last.recv(12) == b"HTTP/1.1 201"


def test_a_large_template_and_a_large_preset_are_stored_as_sent(world: World) -> None:
    account = world.account()
    body = template_body()
    body["document"]["filler"] = FILLER
    assert account.post("/templates", json=body).status_code == 201
    data = {"z": [1, 2.5, None, True, "\t\u00e4"], "a": FILLER, "nested": {"b": 1, "a": 2}}
    made = account.post("/animations", json={"name": "Large", "animationData": data}).json()
    assert list(made["animationData"].items()) == list(data.items())
    assert account.get(f"/animations/{made['id']}").json() == made


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"name": "' + b"x" * LARGE_BYTES + b'",}', f"(line 1, column {LARGE_BYTES + 12})"),
        (json.dumps({"name": "a\x01", "animationData": {"a": FILLER}}).encode(), "U+0001"),
        (json.dumps({"name": "a", "animationData": {"a": FILLER + "\x00"}}).encode(), "animationData.a"),
        (json.dumps({"name": "a", "animationData": FILLER}).encode(), "animationData"),
        (json.dumps({"name": "a", "more": FILLER, "animationData": {}}).encode(), "more"),
        (json.dumps({"name": FILLER, "animationData": {}}).encode(), "name"),
        (json.dumps([FILLER]).encode(), ""),
        (json.dumps({"animationData": {}, "name": [[]] * LARGE_BYTES}).encode(), "JSON holds more than"),
        (json.dumps({"a": [[[0] * 900] * 900]}).encode(), "request holds more than"),
    ],
    ids=["syntax", "control", "nul", "kind", "unknown", "long", "list", "containers", "values"],
)
def test_the_faults_of_a_large_body_are_named(world: World, body: bytes, told: str) -> None:
    answer = world.account().post("/animations", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert told in str(answer.json()["message"])


@pytest.mark.usefixtures("long_window")
def test_large_bodies_are_limited_per_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.large_bodies.LARGE_PER_MINUTE", 2)
    account = world.account()
    body: dict[str, Any] = {"name": "a", "animationData": {"text": FILLER}}
    assert [account.post("/animations", json=body).status_code for _ in range(3)] == [201, 201, 429]
    assert account.post("/animations", json={"name": "a", "animationData": {}}).status_code == 201


@pytest.mark.parametrize("path", ["/console/sign-in", "/console/theme", "/console/account/keys", "/api/v1/renders"])
def test_a_form_without_end_is_refused_where_no_upload_is_expected(world: World, path: str) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + b"y" * 11_000_000
    answer = world.client.post(path, content=part, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code == 413


def test_a_form_of_another_type_is_refused_before_it_is_read(start: Callable[..., World]) -> None:
    """`POST /v1/keys` allows requests without a body, and once read any other body into memory."""
    account = start().account()
    head = {"Content-Type": "multipart/form-data; boundary=x"}
    assert account.post("/keys", headers=head).status_code == 201
    answer = account.post("/keys", content=b"--x\r\n", headers=head)
    assert answer.status_code == 400 and "must be application/json" in answer.json()["message"]
