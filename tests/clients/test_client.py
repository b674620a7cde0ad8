"""The Python client against the real API, and the agent tools through the protocol's official client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from render_farm_client import ApiError, AsyncFarmClient, FarmClient, NoAnswer, RenderFailed
from render_farm_client.tools import server

from tests.api.conftest import own_world, settings, start
from tests.api.workers import drawing
from tests.api.world import Someone, World, document, layer, picture, template_body, text_template
from tests.documents import bundle

pytestmark = pytest.mark.service
__all__ = ["own_world", "settings", "start"]


@pytest.fixture
def ada(own_world: World) -> Someone:
    return own_world.account()


@pytest.fixture
def farm(ada: Someone) -> Iterator[FarmClient]:
    secret = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    with FarmClient(ada.world.origin, secret) as client:
        yield client


def test_a_project_is_imported_rendered_and_downloaded(farm: FarmClient, ada: Someone, tmp_path: Path) -> None:
    project, logo = tmp_path / "card.motion", tmp_path / "logo.png"
    project.write_bytes(bundle(document(layer("n1", "Title", "text"), layer("n2", "Logo", "image", src=""))))
    logo.write_bytes(picture())
    template = farm.import_template(project, name="Card", include_text=True)
    assert [(one.id, one.required) for one in template.inputs] == [("title", False), ("logo", True)]
    assert [one.id for one in farm.templates()] == [template.id]
    inputs = {"title": "Hello", "logo": farm.upload(logo).url}
    assert farm.validate(template.id, inputs).valid
    job = farm.render(template.id, inputs, metadata={"order": 1}, idempotency_key="once-and-only")
    assert farm.render(template.id, inputs, metadata={"order": 1}, idempotency_key="once-and-only").job_id == job.job_id
    (ada.world.settings.data_folder / "storage/objects/results").mkdir(parents=True)
    (ada.world.settings.data_folder / "storage/objects/results/x.mp4").write_bytes(b"video")
    ada.world.move(job.job_id, "completed", video_key="results/x.mp4", progress=100)
    seen: list[float] = []
    done = farm.wait(job.job_id, on_job=lambda one: seen.append(one.progress))
    assert (done.status, done.metadata, seen) == ("completed", {"order": 1}, [100])
    assert farm.download(job.job_id, tmp_path / "out/card.mp4").read_bytes() == b"video"
    assert [one.job_id for one in farm.renders()] == [job.job_id]


def test_a_template_is_replaced_by_a_new_version(farm: FarmClient, ada: Someone, tmp_path: Path) -> None:
    project = tmp_path / "card.motion"
    project.write_bytes(bundle(document(layer("n1", "Title", "text"), layer("n2", "Logo", "image", src=""))))
    first = farm.import_template(project, name="Card", include_text=True)
    project.write_bytes(bundle(document(layer("n1", "Headline", "text"), layer("n2", "Logo", "image", src=""))))
    second = farm.replace_template_by_import(first.id, project)
    assert (second.id, second.name, [one.id for one in second.inputs]) == (first.id, "Card", ["headline", "logo"])
    third = farm.replace_template(first.id, template_body(name="Published"))
    assert (third.id, third.name, farm.template(first.id).name) == (first.id, "Published", "Published")
    assert [(one.version, one.duration_seconds) for one in farm.template_versions(first.id)] == [
        (2, second.duration_seconds),
        (1, first.duration_seconds),
    ]
    fourth = farm.restore_template(first.id, 2)
    assert (fourth.version, fourth.inputs, len(fourth.warnings)) == (4, second.inputs, 4)
    farm.delete_template_version(first.id, 1)
    assert [one.version for one in farm.template_versions(first.id)] == [3, 2]
    with pytest.raises(ApiError, match="no such version"):
        farm.restore_template(first.id, 1)
    with pytest.raises(ApiError, match="no such template"):
        farm.replace_template("tpl_none", template_body())


def test_failures_are_typed(farm: FarmClient, ada: Someone, tmp_path: Path) -> None:
    template = text_template(ada)
    with pytest.raises(ApiError) as refused:
        farm.render(template, {"headline": 7, "extra": "?"})
    assert refused.value.status == 400
    assert {fault.field for fault in refused.value.errors} == {"headline", "extra"}
    with pytest.raises(ApiError) as small:
        farm.still(template, width=3)
    assert str(small.value) == "400: Bad Request\n  width: must be at least 16"
    job = farm.render(template, {})
    with pytest.raises(ApiError) as early:
        farm.download(job.job_id, tmp_path / "x.mp4")
    assert (early.value.status, early.value.body["status"]) == (409, "queued")
    assert not (tmp_path / "x.mp4").exists()
    farm.cancel(job.job_id)
    with pytest.raises(RenderFailed, match="cancelled"):
        farm.wait(job.job_id)


@pytest.mark.parametrize(
    "body",
    [{"message": None, "errors": [{"code": 1101}]}, {"errors": {"detail": "away"}}, {"errors": ["away"]}, None, []],
)
def test_a_gateways_error_of_another_shape_is_an_api_error(body: Any) -> None:
    transport = httpx.MockTransport(lambda _request: httpx.Response(403, json=body))
    with FarmClient("http://farm.example", "key", transport=transport) as client, pytest.raises(ApiError) as refused:
        client.usage()
    assert (str(refused.value), refused.value.errors) == ("403: The server answered 403.", ())


def test_a_batch_is_followed_row_by_row(farm: FarmClient, ada: Someone) -> None:
    rows = [{"inputs": {"headline": f"Row {number}"}} for number in range(130)]
    batch = farm.create_batch(text_template(ada), rows)
    assert (batch.totals["queued"], batch.total) == (130, 130)
    assert [row.index for row in farm.batch_rows(batch.batch_id)] == list(range(130))
    assert farm.cancel_batch(batch.batch_id) == 130
    assert farm.batch(batch.batch_id).status == "ended"


class Growing(httpx.BaseTransport):
    """List of renders that gets a new first render before each answer."""

    def __init__(self, count: int) -> None:
        self.jobs = [{"jobId": f"job_{number}", "status": "queued"} for number in range(count)]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.jobs.insert(0, {"jobId": f"job_new_{len(self.jobs)}", "status": "queued"})
        limit, offset = (int(request.url.params[name]) for name in ("limit", "offset"))
        page = {"items": self.jobs[offset : offset + limit], "total": len(self.jobs), "limit": limit, "offset": offset}
        return httpx.Response(200, json=page)


def test_a_list_that_grows_meanwhile_has_every_render_once() -> None:
    with FarmClient("http://farm", key="k", transport=Growing(250)) as farm:
        ids = [job.job_id for job in farm.renders()]
    assert len(ids) == len(set(ids))
    assert {f"job_{number}" for number in range(250)} <= set(ids)


class Flaky(httpx.BaseTransport):
    """Server that loses the first answers: after it handled the request, or with a 503."""

    def __init__(self, *faults: int) -> None:
        self.faults = list(faults)
        self.keys: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("Idempotency-Key", ""))
        fault = self.faults.pop(0) if self.faults else 201
        if fault == 0:
            raise httpx.ReadError("lost", request=request)
        return httpx.Response(fault, json={"jobId": "job_1", "status": "queued"} if fault == 201 else {})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("render_farm_client.retrying.PAUSE_SECONDS", 0.001)


def test_a_creation_is_repeated_with_the_same_key() -> None:
    transport = Flaky(503, 0, 429)
    with FarmClient("http://farm.example", "key", transport=transport) as farm:
        assert farm.render("tpl", {}).job_id == "job_1"
    assert len(transport.keys) == 4
    assert len(set(transport.keys)) == 1 and transport.keys[0]


@pytest.mark.parametrize(
    ("status", "asked", "paused"),
    [(503, "3", 3), (503, "3600", 30), (429, "3600", 3600), (429, "inf", 1), (429, "9" * 400, 1)],
)
def test_a_farm_that_asks_for_a_pause_gets_it(
    monkeypatch: pytest.MonkeyPatch, status: int, asked: str, paused: int
) -> None:
    """A farm whose database is too slow asks for 30 s. A 429 says exactly when the limit ends."""
    pauses: list[float] = []
    monkeypatch.setattr("render_farm_client.client.time_of.sleep", pauses.append)
    answers = [httpx.Response(status, json={}, headers={"Retry-After": asked}), httpx.Response(200, json={})]
    transport = httpx.MockTransport(lambda _request: answers.pop(0))
    with FarmClient("http://farm.example", "key", transport=transport) as farm:
        farm.usage()
    assert [max(1, pause) for pause in pauses] == [paused]


def test_what_is_wrong_with_the_server_or_the_key_is_said_at_once() -> None:
    for address in ("127.0.0.1:8000", ""):
        with pytest.raises(ValueError, match="must be an address such as"):
            FarmClient(address, "key")
    with pytest.raises(ValueError, match="copy it again"):
        FarmClient("http://farm.example", "Schlüssel")

    def moved(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Bearer key"  # from a file that ends with a line break
        return httpx.Response(301, headers={"Location": str(request.url).replace("http://", "https://")})

    farm = FarmClient("http://farm.example", "key\n", transport=httpx.MockTransport(moved))
    with farm, pytest.raises(ApiError, match="leads to https"):
        farm.usage()


def test_a_wait_outlasts_a_farm_that_is_updated() -> None:
    with FarmClient("http://farm.example", "key", transport=Flaky(*[0] * 9)) as farm, pytest.raises(NoAnswer):
        farm.job("job_1")
    with FarmClient("http://farm.example", "key", transport=Flaky(*[0] * 9)) as farm, pytest.raises(TimeoutError):
        farm.wait("job_1", timeout=0)


@pytest.mark.parametrize("operation", ["import_template", "publish_template", "create_key"])
def test_a_request_that_is_not_idempotent_is_repeated_only_if_nothing_was_done(operation: str, tmp_path: Path) -> None:
    (tmp_path / "a.motion").write_bytes(b"{}")
    arguments: dict[str, list[Any]] = {
        "import_template": [tmp_path / "a.motion"],
        "publish_template": [{}],
        "create_key": ["n8n"],
    }
    for faults, error, count in (([0], NoAnswer, 1), ([503], ApiError, 1), ([429, 429, 0], NoAnswer, 3)):
        transport = Flaky(*faults)
        with FarmClient("http://farm.example", "key", transport=transport) as farm, pytest.raises(error):
            getattr(farm, operation)(*arguments[operation])
        assert len(transport.keys) == count, faults


def test_a_request_is_tried_six_times() -> None:
    for transport, error in ((Flaky(*[0] * 9), NoAnswer), (Flaky(*[503] * 9), ApiError), (Flaky(*[429] * 9), ApiError)):
        with FarmClient("http://farm.example", "key", transport=transport) as farm, pytest.raises(error):
            farm.usage()
        assert len(transport.keys) == 6


class Downloads(httpx.BaseTransport):
    """A finished render whose downloads return the next of these: bytes, a status, or an error after the first bytes."""

    def __init__(self, *answers: bytes | int | httpx.TransportError) -> None:
        self.answers = list(answers)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self.answers.pop(0)
        if isinstance(answer, int):
            return httpx.Response(answer, json={}, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})
        return httpx.Response(200, content=answer if isinstance(answer, bytes) else _broken_off(answer))


def _broken_off(error: httpx.TransportError) -> Iterator[bytes]:
    yield b"half of "
    raise error


def test_a_download_that_breaks_off_is_tried_again(tmp_path: Path) -> None:
    lost = httpx.RemoteProtocolError("lost")
    with FarmClient("http://farm", transport=Downloads(lost, 503, 429, b"video")) as farm:
        assert farm.download("job_1", tmp_path / "a.mp4").read_bytes() == b"video"
    with FarmClient("http://farm", transport=Downloads(*[lost] * 10)) as farm, pytest.raises(NoAnswer, match="lost"):
        farm.download("job_1", tmp_path / "b.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


async def test_a_download_from_a_bucket_is_asked_for_without_the_key(tmp_path: Path) -> None:
    def answered(request: httpx.Request) -> httpx.Response:
        if request.url.host == "farm.example":
            return httpx.Response(302, headers={"Location": "http://bucket.example/a.mp4?signature=x"})
        return httpx.Response(200, content=b"video" if "Authorization" not in request.headers else b"the key was sent")

    transport = httpx.MockTransport(answered)
    with FarmClient("http://farm.example", "key", transport=transport) as farm:
        assert farm.download("job_1", tmp_path / "a.mp4").read_bytes() == b"video"
    async with AsyncFarmClient("http://farm.example", "key", transport=transport) as other:
        assert (await other.download("job_1", tmp_path / "b.mp4")).read_bytes() == b"video"


async def test_the_asynchronous_client_tries_a_download_again(tmp_path: Path) -> None:
    class Answers(httpx.AsyncBaseTransport):
        lost = True

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            async def broken_off() -> AsyncIterator[bytes]:
                yield b"half of "
                raise httpx.RemoteProtocolError("lost")

            content, self.lost = (broken_off() if self.lost else b"video"), False
            return httpx.Response(200, content=content)

    async with AsyncFarmClient("http://farm", transport=Answers()) as farm:
        assert (await farm.download("job_1", tmp_path / "a.mp4")).read_bytes() == b"video"


async def test_the_asynchronous_client_does_the_same(ada: Someone) -> None:
    token = ada.headers["Authorization"].removeprefix("Bearer ")
    async with AsyncFarmClient(ada.world.origin, token=token) as farm:
        template = text_template(ada)
        job = await farm.render(template, {"headline": "Hi"})
        assert [one.job_id async for one in farm.renders()] == [job.job_id]
        assert (await farm.cancel(job.job_id)).status == "cancelled"
        with pytest.raises(RenderFailed):
            await farm.wait(job.job_id)


def test_an_agent_lists_previews_validates_and_renders(ada: Someone, tmp_path: Path) -> None:
    template = text_template(ada)

    async def call(client: Client, name: str, **arguments: Any) -> Any:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content
        return result

    async def run() -> None:
        secret = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
        async with AsyncFarmClient(ada.world.origin, secret) as farm, Client(server(farm, "1.2.3")) as client:
            assert client.server_info is not None and client.server_info.version == "1.2.3"
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"list_templates", "describe_template", "validate_inputs", "preview_frame", "render_video"} <= names
            described = json.loads((await call(client, "describe_template", template_id=template)).content[0].text)
            assert [one["id"] for one in described["inputs"]] == ["headline"]
            shown = await call(client, "preview_frame", template_id=template, inputs={"headline": "Hi"}, width=64)
            assert (shown.content[0].type, shown.content[0].mime_type) == ("image", "image/jpeg")
            checked = await call(client, "validate_inputs", template_id=template, inputs={"headline": 3})
            assert not json.loads(checked.content[0].text)["valid"]
            made = await call(client, "render_video", template_id=template, inputs={"headline": "Hi"})
            job_id = json.loads(made.content[0].text)["jobId"]
            ended = await call(client, "cancel_render", job_id=job_id)
            assert json.loads(ended.content[0].text)["status"] == "cancelled"
            refused = await client.call_tool("describe_template", {"template_id": "tpl_none"})
            assert refused.is_error and "no such template" in str(refused.content)

    with drawing(ada.world, tmp_path):
        asyncio.run(run())


def test_the_workflow_for_n8n_holds_together() -> None:
    from farm_core.settings import ROOT

    flow = json.loads((ROOT / "docs/recipes/n8n-render.json").read_text())
    assert flow.get("id"), "`n8n import:workflow` refuses a workflow without an id"
    names = {node["name"] for node in flow["nodes"]}
    targets = [
        one["node"] for connection in flow["connections"].values() for outputs in connection["main"] for one in outputs
    ]
    assert set(flow["connections"]) | set(targets) == names
    assert len({node["id"] for node in flow["nodes"]}) == len(names)
    ends = {node["name"] for node in flow["nodes"] if node["type"] == "n8n-nodes-base.stopAndError"}
    calls = [node for node in flow["nodes"] if node["type"] == "n8n-nodes-base.httpRequest"]
    assert all(node.get("retryOnFail") for node in calls), "a farm that is away for seconds is asked again"
    named = {node["name"]: node for node in flow["nodes"]}
    create = named["Create render"]
    headers = create["parameters"]["headerParameters"]["parameters"]
    assert [one["name"] for one in headers] == ["Idempotency-Key"], "a request tried again renders once"
    assert "$('Settings').item.json.key" in headers[0]["value"]
    key = next(one for one in named["Settings"]["parameters"]["assignments"]["assignments"] if one["name"] == "key")
    parts = ("$execution.id", "$runIndex", "$itemIndex")  # each run of a loop starts with item 0
    assert all(part in key["value"] for part in parts)
    limits = {"Create render": 60, "Get render": 300, "Download": 300}  # requests a minute
    for node in calls:
        pace = node["parameters"]["options"]["batching"]["batch"]
        assert pace["batchSize"] * 60_000 / pace["batchInterval"] <= limits[node["name"]], node["name"]
    download = named["Download"]["parameters"]
    assert download["url"] == "={{ $json.videoUrl }}", (
        "n8n sends X-API-Key also to the bucket that a download redirects to"
    )
    assert "authentication" not in download, "a video's URL needs no credential"
    assert create["onError"] == "continueErrorOutput"
    assert flow["connections"]["Create render"]["main"][1][0]["node"] in ends, "a refused request ends with the answer"
