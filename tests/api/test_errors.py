"""Every error has the same envelope, no error shows internals, and no log contains a secret."""

from __future__ import annotations

import gzip
import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from farm_core.settings import ROOT
from farm_core.telemetry import logs
from tests.api.world import World, picture, template_body

pytestmark = pytest.mark.service
JSON = {"Content-Type": "application/json"}
LIMIT = 10 * 1024 * 1024
ERRORS_PAGE = (ROOT / "docs" / "errors.md").read_text()


def check(answer: Any, status: int) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert answer.status_code == status, body
    assert body["statusCode"] == status
    assert body["message"] and body["error"]
    assert body["requestId"] == answer.headers["X-Request-Id"]
    assert body["path"] == answer.request.url.path
    assert f"| {status} |" in ERRORS_PAGE
    return body


def test_every_failure_has_the_envelope(world: World) -> None:
    ada = world.account()
    client = world.client
    deep = b'{"templateId":"x","inputs":' + b'{"a":' * 100_000
    check(client.get("/api/v1/nothing"), 404)
    check(client.get("/nowhere"), 404)
    check(client.get("/api/v1/renders/"), 404)
    wrong = client.put("/api/v1/renders", headers=ada.headers)
    assert check(wrong, 405)["error"] == "Method Not Allowed"
    assert wrong.headers["Allow"] == "GET, HEAD, POST"
    assert ada.post("/renders/job_none/download").headers["Allow"] == "GET, HEAD"
    assert ada.post("/templates/tpl_none").headers["Allow"] == "DELETE, GET, HEAD, PUT"
    assert ada.ask("HEAD", "/keys/key_none").status_code == 405
    check(client.get("/api/v1/renders"), 401)
    for content in (b"{", b"", b"nonsense", b'{"a": NaN}', b"\xff\xfe", b'{"a": 1}}', deep, b"[" * 100_000, b"null"):
        check(ada.post("/renders", content=content, headers=JSON), 400)
    nul = b'{"templateId":"x","inputs":{"a":"\\u0000"}}'
    assert "NUL" in str(check(ada.post("/renders", content=nul, headers=JSON), 400)["errors"])
    for media_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data"):
        check(ada.post("/animations", content=b'{"name":"a"}', headers={"Content-Type": media_type}), 400)


@pytest.mark.parametrize(
    ("content", "headers", "words"),
    [
        (b'{"name":\n "x",}', JSON, "not valid JSON in UTF-8: trailing comma is not allowed (line 2, column"),
        (b'{"name": NaN}', JSON, "(line 1, column 10)"),
        ('{"name": "é"}'.encode("latin-1"), JSON, "UTF-8"),
        (b"", JSON, "is empty"),
        (
            gzip.compress(b"{}", mtime=0),
            JSON | {"Content-Encoding": "gzip"},
            "Compressed request bodies are not supported",
        ),
        (b"name=x", {"Content-Type": "application/x-www-form-urlencoded"}, "not application/x-www-form-urlencoded"),
        (b"[]", JSON, "body: must be an object"),
        (b'{"name": 1}', JSON, "name: must be a string"),
        (b'{"name": "x"}', JSON, "animationData: is required"),
        (b'{"name": " ", "animationData": []}', JSON, "name: must not be empty"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_with_the_reason(
    world: World, content: bytes, headers: dict[str, str], words: str
) -> None:
    message = check(world.account().post("/animations", content=content, headers=headers), 400)["message"]
    assert words in str(message)


def test_bounds_are_described_in_json_terms(world: World) -> None:
    ada = world.account()
    for path, words in (
        ("/renders?limit=101", "limit: must be at most 100"),
        ("/renders?limit=x", "limit: must be an integer"),
        ("/renders?offset=-1", "offset: must be at least 0"),
        (f"/renders?offset={2**63}", "offset: must be at most 2147483647"),
    ):
        assert check_fault(ada.get(path)) == words
    template = template_body(width=0)
    assert check_fault(ada.post("/templates", json=template)) == "width: must be more than 0"
    assert check_fault(ada.post("/templates", json={**template, "width": True})) == "width: must be a number"
    preset = {"name": "n" * 201, "animationData": {}}
    assert check_fault(ada.post("/animations", json=preset)) == "name: must have at most 200 characters"
    message = check_fault(ada.post("/keys", json={"scopes": ["renders"]}))
    assert message.startswith("scopes.0: must be 'renders:read', 'renders:write'")


def check_fault(answer: Any) -> str:
    (message,) = check(answer, 400)["message"]
    return str(message)


def test_a_byte_order_mark_before_the_json_is_skipped(world: World) -> None:
    content = b'\xef\xbb\xbf{"name": "marked", "animationData": {}}'
    assert world.account().post("/animations", content=content, headers=JSON).status_code == 201


def test_fields_with_control_characters_are_named_all_at_once(world: World) -> None:
    ada = world.account()
    message = check(ada.post("/keys", json={"name": "a\x07b", "scopes": ["x\x00"]}), 400)
    assert {one["field"]: one["message"] for one in message["errors"]} == {
        "name": "holds the control character U+0007, which no field can hold",
        "scopes.0": "holds a NUL character (U+0000), which no field can hold",
    }
    preset = {"name": "Bounce", "animationData": {"note": "bell \x07", "keys": [{"at": "\x00"}]}}
    assert [one["field"] for one in check(ada.post("/animations", json=preset), 400)["errors"]] == [
        "animationData.keys.0.at"
    ]
    form = ada.post("/templates/import", files={"file": ("a", b"x")}, data={"name": "\x01"})
    assert [one["field"] for one in check(form, 400)["errors"]] == ["name"]


def test_a_missing_route_and_a_missing_method_are_told_with_the_way_on(world: World) -> None:
    ada = world.account()
    assert "/api/docs" in check(ada.get("/nothing"), 404)["message"]
    assert check(ada.ask("PATCH", "/usage"), 405)["message"] == (
        "This route has no method PATCH. Its methods are GET, HEAD."
    )


def test_answers_to_browsers_have_a_request_id_too(start: Callable[..., World]) -> None:
    world = start(cors_origins="https://app.example.com")
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    for origin, status in (("https://app.example.com", 200), ("https://elsewhere.example.com", 400)):
        answer = world.client.options("/api/v1/renders", headers={"Origin": origin, **asked})
        assert answer.status_code == status
        assert answer.headers["X-Request-Id"].startswith("req_")
    refused = world.client.get("/api/v1/usage", headers={"Origin": "https://app.example.com"})
    assert refused.headers["Access-Control-Allow-Origin"] == "https://app.example.com"
    assert check(refused, 401)


def test_browsers_of_allowed_origins_call_the_api_and_files_alone(start: Callable[..., World]) -> None:
    world = start(cors_origins="https://app.example.com")
    for path, is_open in (("/api/health", True), ("/files/x", True), ("/console/", False), ("/metrics", False)):
        answer = world.client.get(path, headers={"Origin": "https://app.example.com"})
        assert ("Access-Control-Allow-Origin" in answer.headers) is is_open, path
    asked = {"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST"}
    assert world.client.options("/api/v1/renders", headers=asked).status_code == 200
    for refused in ({"Origin": "https://evil.example.com"}, {"Access-Control-Request-Method": "PATCH"}):
        check(world.client.options("/api/v1/renders", headers=asked | refused), 400)


def test_every_route_with_get_answers_head(own_world: World) -> None:
    ada = own_world.account()
    key = ada.new_key()
    for path in ("/usage", "/renders", f"/templates/{ada.template()}", "/renders/job_none", "/nothing"):
        got, head = ada.get(path), ada.ask("HEAD", path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers.get("ETag") == got.headers.get("ETag")
        assert head.headers["Content-Type"] == got.headers["Content-Type"]
    for path in ("/api/health", "/metrics", "/api/openapi.json", "/api/docs"):
        assert own_world.client.head(path).status_code == 200, path
    assert own_world.client.head("/api/v1/usage").status_code == 401
    key.ask("HEAD", "/usage")
    assert ada.usage()["apiRequests"] == 1


def test_a_body_over_ten_megabytes_is_refused_announced_or_not(world: World) -> None:
    ada = world.account()
    large = b'{"name":"' + b"x" * LIMIT + b'"}'

    def pieces() -> Iterator[bytes]:
        for _ in range(12):
            yield b"x" * (1 << 20)

    check(ada.post("/animations", content=large, headers=JSON), 413)
    check(ada.post("/animations", content=pieces(), headers=JSON), 413)
    fits = json.dumps({"name": "large", "animationData": {"x": "y" * (LIMIT - 100)}}).encode()
    assert ada.post("/animations", content=fits, headers=JSON).status_code == 201


def test_a_request_id_is_the_callers_where_it_is_well_formed(world: World) -> None:
    ask = world.client.get
    assert ask("/api/health", headers={"X-Request-Id": "order-7-abc"}).headers["X-Request-Id"] == "order-7-abc"
    for bad in ("short", "white space here", "x" * 65, "<script>alert</script>"):
        made = ask("/api/health", headers={"X-Request-Id": bad}).headers["X-Request-Id"]
        assert made.startswith("req_")
    check(ask("/api/v1/usage", headers={"X-Request-Id": "order-7-abc"}), 401)


def test_an_unexpected_failure_is_a_generic_500(own_world: World) -> None:
    ada = own_world.account()
    with psycopg.connect(str(own_world.settings.database_url), autocommit=True) as connection:
        connection.execute("ALTER TABLE presets RENAME TO gone")
    body = check(ada.get("/animations"), 500)
    assert body["error"] == "Internal Server Error"
    for internal in ("presets", "SELECT", "sqlalchemy", "psycopg", "relation", "Traceback"):
        assert internal not in json.dumps(body)
    assert check(ada.post("/animations", json={"name": "a", "animationData": {}}), 500)["message"] == body["message"]


@pytest.fixture
def captured() -> Iterator[io.StringIO]:
    """Yield the log as on a server: one JSON object per line."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    logs.set_up("DEBUG", human=False)
    stream = io.StringIO()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers, root.level = before, level


def test_the_log_line_has_the_answers_request_id_and_no_secret(
    captured: io.StringIO, start: Callable[..., World]
) -> None:
    world = start()
    ada = world.account()
    made = ada.post("/keys", json={}).json()
    answer = world.client.get("/api/v1/renders/job_none", headers={"X-API-Key": made["secret"]})
    upload = ada.upload(picture()).json()["url"]
    world.client.get(upload)
    world.client.get(f"/api/v1/usage?token={made['secret']}")
    logs.logger("test").warning("leak", url=upload, header=ada.headers, text=f"Bearer {made['secret']}")
    lines = [json.loads(line) for line in captured.getvalue().splitlines()]
    mine = [line for line in lines if line.get("request_id") == answer.headers["X-Request-Id"]]
    assert [(line["event"], line["method"], line["path"], line["status"]) for line in mine] == [
        ("request", "GET", "/api/v1/renders/job_none", 404)
    ]
    assert mine[0]["account_id"] == ada.account_id
    token = ada.headers["Authorization"].removeprefix("Bearer ")
    for secret in (made["secret"], token, upload.partition("signature=")[2]):
        assert secret not in captured.getvalue()


def test_metrics_name_routes_and_queue(own_world: World) -> None:
    ada = own_world.account()
    ada.job()
    text = own_world.client.get("/metrics").text
    assert 'farm_jobs{status="queued"} 1.0' in text
    assert "farm_storage_up 1.0" in text
    assert 'route="/api/v1/renders",status="201"' in text
    assert ada.account_id not in text


@pytest.mark.parametrize("path", ["/", "/api"])
def test_the_first_page_leads_on(world: World, path: str) -> None:
    answer = world.client.get(path)
    assert answer.status_code == 307
    assert answer.headers["Location"] in ("/api/docs", "/console")


def test_a_blocked_local_webhook_names_the_setting(world: World) -> None:
    ada = world.account()
    answer = ada.render(ada.template(), callbackUrl="http://127.0.0.1:9/hook")
    assert "AUTOMATION_ALLOW_PRIVATE_CALLBACKS=true" in answer.json()["errors"][0]["message"]
    other = ada.render(ada.template(), callbackUrl="ftp://127.0.0.1/hook")
    assert "AUTOMATION" not in other.text
