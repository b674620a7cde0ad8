"""Control characters in every text of every request are refused, and never cause a server error."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.api.workers import drawing
from tests.api.world import Someone, World, document, layer, picture, template_body
from tests.attacks.test_server import answer, connected
from tests.console.people import signed_in
from tests.documents import bundle

pytestmark = pytest.mark.service
CONTROLS = ["\x00", "\x01", "\x08", "\x0e", "\x1b", "\x1f", "\x7f"]


def bodies(ada: Someone, text: str) -> list[tuple[str, dict[str, Any]]]:
    """Yield a request for each text in a JSON body."""
    template = ada.template()
    inputs = template_body()["inputs"]
    return [
        ("/keys", {"name": text}), ("/keys", {"scopes": [text]}), ("/keys", {"expiresAt": text}),
        ("/templates", template_body(name=text)), ("/templates", template_body(description=text)),
        ("/templates", template_body(projectId=text)),
        ("/templates", template_body(inputs=[{**inputs[0], "label": text}, *inputs[1:]])),
        ("/templates", template_body(inputs=[{**inputs[0], "id": f"a{text}"}, *inputs[1:]])),
        ("/renders", {"templateId": text, "inputs": {}}), ("/renders", {"templateId": template, "inputs": {text: "x"}}),
        ("/renders", {"templateId": template, "inputs": {"headline": text, "photo": "https://media.example.com/a.png"}}),
        ("/renders", {"templateId": template, "inputs": {"photo": f"https://media.example.com/{text}"}}),
        ("/renders", {"templateId": template, "inputs": {}, "callbackUrl": f"https://example.com/{text}"}),
        ("/renders", {"templateId": template, "inputs": {}, "metadata": {"a": {"b": [text]}}}),
        ("/renders", {"templateId": template, "inputs": {}, "output": {"format": text}}),
        ("/animations", {"name": text, "animationData": {}}),
    ]  # fmt: skip


@pytest.mark.parametrize("control", CONTROLS, ids=[f"U+{ord(one):04X}" for one in CONTROLS])
def test_no_field_of_a_body_takes_a_control_character(world: World, control: str) -> None:
    ada = world.account(maxActiveApiKeys=None)
    for path, body in bodies(ada, f"a{control}b"):
        refused = ada.post(path, json=body)
        assert refused.status_code == 400, (path, body, refused.text)
    assert ada.get("/keys").json()["total"] == 0


@pytest.mark.parametrize("control", CONTROLS, ids=[f"U+{ord(one):04X}" for one in CONTROLS])
def test_no_field_of_a_form_takes_a_control_character(world: World, control: str) -> None:
    ada = world.account()
    project = bundle(document(layer("n1", "Photo", "image", src="")))
    for field in ("name", "description", "compId"):
        refused = ada.post("/templates/import", files={"file": project}, data={field: f"a{control}b"})
        assert refused.status_code == 400, (field, refused.text)


@pytest.mark.parametrize("control", CONTROLS, ids=[f"U+{ord(one):04X}" for one in CONTROLS])
def test_a_control_character_in_a_header_is_refused_or_goes_no_further(world: World, control: str) -> None:
    ada = world.account()
    lines = {
        "Authorization": f"Bearer a{control}b", "X-API-Key": f"pm_live_{control}", "Idempotency-Key": f"abcdefgh{control}",
        "X-Request-Id": f"req{control}", "Host": f"farm{control}", "Content-Type": f"application/json{control}",
        "X-Forwarded-For": control, "Range": f"bytes=0-{control}", "If-None-Match": f'"{control}"',
    }  # fmt: skip
    for name, value in lines.items():
        kept = {"Host": "x", **ada.headers, name: value}
        head = "".join(f"{one}: {text}\r\n" for one, text in kept.items())
        with closing(connected(world)) as connection:
            connection.sendall(f"GET /api/v1/usage HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode("latin-1"))
            reply = answer(connection)
        status = int(reply.split(b" ")[1]) if reply else 400
        assert status < 500, (name, reply[:200])
        assert control.encode() not in reply.replace(b"\r\n", b""), name


@pytest.mark.parametrize("control", CONTROLS, ids=[f"U+{ord(one):04X}" for one in CONTROLS])
def test_a_control_character_in_an_address_is_no_server_error(world: World, control: str) -> None:
    ada = world.account()
    text = f"a%{ord(control):02x}b"
    for path in (
        f"/renders/{text}",
        f"/templates/{text}",
        f"/animations/{text}",
        f"/batches/{text}",
        f"/renders/{text}/download",
    ):
        assert ada.get(path).status_code == 404, path
    assert ada.delete(f"/keys/{text}").status_code == 404
    for query in (f"limit={text}", f"offset={text}"):
        assert ada.get(f"/renders?{query}").status_code == 400
    assert world.client.get(f"/files/assets/{text}", headers=ada.headers).status_code == 404


@pytest.mark.parametrize("control", ["\x00", "\x1b"], ids=["NUL", "ESC"])
def test_a_control_character_in_a_page_of_the_console_is_no_server_error(
    world: World, tmp_path: Path, control: str
) -> None:
    with drawing(world, tmp_path), signed_in(world, "boss", operator=True) as boss:
        text, template = f"a{control}b", boss.api.template()
        names = ("text", "status", "template", "account", "period", "after", "input.headline", "time", "done")
        for path in ("/renders", "/templates", "/accounts", "/audit", "/workers", f"/templates/{template}/playground"):
            for name in names:
                assert boss.get(path, params={name: text}).status_code < 500, (path, name)
        forms: list[tuple[str, dict[str, Any]]] = [
            ("/account/keys", {"name": text, "scope": "usage:read"}), ("/account/keys", {"name": "a", "scope": text}),
            ("/accounts", {"name": text, "plan": "pro"}), ("/accounts", {"name": "abc", "plan": text}),
            (f"/accounts/{boss.api.account_id}/limits", {"maxUploadBytes": text}),
            (f"/templates/{template}/render", {"input.headline": text, "input.photo": "https://media.example.com/a.png"}),
            (f"/templates/{template}/check", {"input.headline": text}), (f"/templates/{template}/preview", {"input.size": text}),
            ("/workers/drain", {"worker": text}), ("/workers/drain", {"node": text}), ("/enter", {"token": text}),
            ("/templates/import/imp_000000000000000000000", {"name": text}),
        ]  # fmt: skip
        for path, form in forms:
            assert boss.post(path, **form).status_code < 500, (path, form)
        headers = {"X-CSRF-Token": boss.csrf()}
        files = {"file": (text, picture())}
        assert boss.client.post("/console/uploads", files=files, headers=headers).status_code < 500
