"""Errors of limits that hostile callers meet first: each names the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from console import guard
from console.pages import static_url
from tests.api.world import World
from tests.console.people import signed_in

pytestmark = pytest.mark.service
_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("depth", [1_500, 50_000])
def test_json_nested_too_deep(world: World, depth: int) -> None:
    body = b'{"inputs":' + b"[" * depth + b"]" * depth + b"}"
    refused = world.account().post("/renders", content=body, headers=_JSON)
    assert refused.status_code == 400
    assert "nested more than 1024 deep" in refused.json()["message"]


def test_a_field_of_an_upload_that_is_too_long(world: World) -> None:
    files = {"file": ("a.png", b"x"), "other": (None, "x" * 100_000)}
    refused = world.account().post("/assets", files=files)
    assert refused.status_code == 400
    assert refused.json()["message"] == "The form's field 'other' holds more than 65,536 bytes."


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([("file", ("a.png", b"x"))] * 2, "The form has more than one field named 'file'."),
        ([(f"f{number}", (None, "x")) for number in range(65)], "The form has more than 64 parts."),
        ([("f", ("a" * 20_000, "x"))], "The multipart body is malformed."),
        ([("file", ("a.png", b"x")), ("f", (None, b"\xff"))], "The form's fields must be UTF-8."),
    ],
)
def test_a_form_of_an_upload_that_cannot_be_read(world: World, parts: list[Any], said: str) -> None:
    refused = world.account().post("/assets", files=parts)
    assert (refused.status_code, refused.json()["message"]) == (400, said)


@pytest.mark.usefixtures("long_window")
def test_requests_of_an_address(start: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "REQUESTS_PER_MINUTE", 5)
    world = start(automation_requests_per_minute_per_ip=5)
    for path in ("/api/v1/usage", "/console/sign-in"):
        refused = [world.client.get(path) for _ in range(6)][-1]
        assert refused.status_code == 429
        assert "Too many requests from this address: at most 5 a minute. Try again in" in refused.text
        assert int(refused.headers["Retry-After"]) > 0
    assert world.client.get(static_url("console.css")).status_code == 200, "a page loads many files"


def test_open_pages_of_an_account(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.live.endpoints.STREAMS_PER_ACCOUNT", 1)
    with signed_in(world, "viewer") as person, person.client.stream("GET", "/console/events"):
        answers = person.get("/events"), person.get("/events", headers={"HX-Request": "true"})
    for refused in answers:
        assert refused.status_code == 429
        assert "An account can have 1 open pages. Close some of them and reload this one." in refused.text
        assert refused.headers["Retry-After"] == "30"
