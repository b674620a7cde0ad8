"""One request beyond each limit of requests that no other test sends: each error names the limit."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from api.templates.drafts import INPUTS_MAX
from motion.bundle import ENTRIES_MAX
from motion.stored import CONTAINERS_MAX
from tests.api.world import Someone, World
from tests.documents import document, node

pytestmark = pytest.mark.service


def imported(caller: Someone, project: bytes) -> tuple[int, str]:
    """Return status and message of the answer to an import."""
    return answered(caller.post("/templates/import", files={"file": ("project.motion", project)}))


def answered(answer: Any) -> tuple[int, str]:
    body = answer.json()
    faults = [one["message"] for one in body.get("errors", [])]
    return answer.status_code, " ".join([str(body["message"]), *faults])


def zipped(names: list[str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    return packed.getvalue()


def test_projects_beyond_a_limit(world: World) -> None:
    caller = world.account()
    pictures = document(*(node(f"n{number}", "image", src="") for number in range(INPUTS_MAX + 1)))
    lists = b'{"nodes":[' + b"[]," * CONTAINERS_MAX + b"[]]}"
    beyond = {
        zipped([f"f{number}" for number in range(ENTRIES_MAX + 1)]): "The bundle has more than 20000 entries.",
        lists: "The project holds more than 250000 objects and lists.",
        orjson.dumps(pictures): "The project offers 1001 inputs; a template has at most 1000.",
        orjson.dumps(document(node("n", "image", src=""), composition={"width": 9000})): "at most 8192 is allowed",
    }
    for project, message in beyond.items():
        status, text = imported(caller, project)
        assert status == 400
        assert message in text


def test_forms_beyond_a_limit(world: World) -> None:
    caller = world.account()
    parts = [(f"f{number}", (None, "x")) for number in range(1_001)]
    assert "The form has more than" in answered(caller.post("/assets", files=parts))[1]
    form = "&".join(f"f{number}=x" for number in range(1_002))
    refused = world.client.post(
        "/console/sign-in", content=form, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert (refused.status_code, "The form has more than 1000 fields." in refused.text) == (400, True)


def test_renders_beyond_a_limit(world: World) -> None:
    caller = world.account()
    template = caller.template()
    beyond: list[tuple[dict[str, Any], str]] = [
        ({"metadata": {"k": "v" * 5_000}}, "has 5008 bytes; at most 4096 are allowed"),
        ({"callbackUrl": "https://example.com/" + "x" * 2_048}, "The URL is longer than 2048 characters."),
    ]
    for body, message in beyond:
        status, text = answered(caller.render(template, **body))
        assert status == 400
        assert message in text


@pytest.mark.usefixtures("long_window")
def test_rates_of_an_account(start: Callable[..., World]) -> None:
    world = start(automation_renders_per_minute=1, batches_per_minute=1)
    caller = world.account()
    template = caller.template()
    rows = [{"inputs": {"photo": "https://media.example.com/photo.png"}}]
    body = {"templateId": template, "rows": rows}
    creations: list[tuple[Callable[[], Any], str]] = [
        (lambda: caller.render(template), "At most 1 renders a minute may be created."),
        (lambda: caller.post("/batches", json=body), "At most 1 batches a minute"),
    ]
    for create, rule in creations:
        create()
        refused = create()
        assert refused.status_code == 429
        assert rule in refused.json()["message"]
        assert refused.json()["retryAfterSeconds"] > 0
