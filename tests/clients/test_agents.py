"""MCP server for agents: its answers are usable by a language model, and its process obeys the client."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from mcp import Client
from render_farm_client import ApiError, AsyncFarmClient, FarmClient
from render_farm_client.tools import server

from cluster.local.accounts import session_token
from farm_core.settings import ROOT
from tests.api import media
from tests.api.conftest import own_world, settings, start
from tests.api.world import Someone, World, text_template
from tests.patience import HANG_SECONDS

__all__ = ["own_world", "settings", "start"]
Call = Callable[..., Awaitable[Any]]
DAY_SECONDS = 24 * 3600


@pytest.fixture
def ada(own_world: World) -> Someone:
    return own_world.account()


def secret_of(ada: Someone) -> str:
    return ada.new_key().headers["Authorization"].removeprefix("Bearer ")


def with_tools(ada: Someone, run: Callable[[Call], Awaitable[None]], *, reads_files: bool = False) -> None:
    """Give `run` a function that calls a tool and returns the text of a successful call."""

    async def session() -> None:
        async with (
            AsyncFarmClient(ada.world.origin, secret_of(ada)) as farm,
            Client(server(farm, "1", reads_files=reads_files)) as client,
        ):

            async def call(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                [content] = result.content
                assert content.type == "text"
                return content.text if result.is_error else json.loads(content.text)

            await run(call)

    asyncio.run(session())


@pytest.mark.service
def test_lists_are_short_and_say_if_there_is_more(ada: Someone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("render_farm_client.tools.LIST_ITEMS_MAX", 2)

    async def run(call: Call) -> None:
        assert await call("list_templates") == {"templates": [], "more": False}
        assert await call("list_renders") == {"renders": [], "more": False}
        templates = [text_template(ada) for _ in range(3)]
        listed = await call("list_templates")
        assert (len(listed["templates"]), listed["more"]) == (2, True)
        assert listed["templates"][0]["id"] == templates[-1]
        assert listed["templates"][0]["inputs"] == ["headline"]
        assert (await call("list_templates", name="no template has this"))["templates"] == []
        made = await call("render_video", template_id=templates[0], inputs={})
        assert [one["jobId"] for one in (await call("list_renders"))["renders"]] == [made["jobId"]]

    with_tools(ada, run)


@pytest.mark.service
def test_answers_claim_only_what_is_known(ada: Someone) -> None:
    async def run(call: Call) -> None:
        template = text_template(ada)
        assert "width" in await call("render_video", template_id=template, inputs={}, width=0)
        assert "output" in await call("render_video", template_id=template, inputs={}, output={"width": 64})
        made = await call("render_video", template_id=template, inputs={})
        assert made == {"jobId": made["jobId"], "status": "queued"}
        ada.world.move(made["jobId"], "completed", video_key="results/x.mp4", progress=100)
        assert await call("cancel_render", job_id=made["jobId"]) == {"jobId": made["jobId"], "status": "completed"}

    with_tools(ada, run)


@pytest.mark.service
def test_an_agent_on_this_machine_uploads_its_media_files_and_others_do_not(ada: Someone, tmp_path: Path) -> None:
    picture, secret = tmp_path / "photo.png", tmp_path / "secret.txt"
    picture.write_bytes(media.files()["image/png"])
    secret.write_text("not a picture")

    async def run(call: Call) -> None:
        uploaded = await call("upload_file", path=str(picture))
        assert (uploaded["mime"], uploaded["bytes"]) == ("image/png", picture.stat().st_size)
        checked = await call("validate_inputs", template_id=ada.template(), inputs={"photo": uploaded["url"]})
        assert checked["errors"] == []
        assert "400" in await call("upload_file", path=str(secret))
        for missing in (tmp_path, tmp_path / "none.png"):
            assert "There is no file" in await call("upload_file", path=str(missing))

    async def run_elsewhere(call: Call) -> None:
        assert await call("upload_file", path=str(picture)) == "Unknown tool: upload_file"

    with_tools(ada, run, reads_files=True)
    with_tools(ada, run_elsewhere)


@pytest.mark.service
def test_a_wait_reports_progress(ada: Someone) -> None:
    async def run() -> list[tuple[float, float | None, str | None]]:
        reported: list[tuple[float, float | None, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            reported.append((progress, total, message))
            ada.world.move(job, "completed", video_key="results/x.mp4", progress=100)

        async with AsyncFarmClient(ada.world.origin, secret_of(ada)) as farm, Client(server(farm, "1")) as client:
            ended = await client.call_tool("wait_for_render", {"job_id": job}, progress_callback=note)
        assert not ended.is_error
        return reported

    job = ada.render(text_template(ada), inputs={}).json()["jobId"]
    ada.world.move(job, "processing", progress=20)
    assert asyncio.run(run()) == [(20, 100, "processing"), (100, 100, "completed")]


@pytest.mark.service
@pytest.mark.parametrize("form", ["../usage", "..", "x/../../usage", "%2E%2E/usage", "?x", "#x"])
def test_an_id_leads_to_no_other_route(ada: Someone, form: str) -> None:
    with FarmClient(ada.world.origin, secret_of(ada)) as farm:
        for use in (farm.template, farm.job, farm.delete_template, farm.cancel, farm.batch):
            with pytest.raises(ApiError) as refused:
                use(form)
            assert (refused.value.status, refused.value.code) == (404, None)


@pytest.mark.service
def test_the_token_of_a_command_outlives_an_agents_server(own_world: World) -> None:
    secret = "s" * 32
    chosen = own_world.settings.model_copy(update={"jwt_secret": secret})
    assert chosen.database_url is not None
    token = session_token(chosen, chosen.database_url, "local")
    assert jwt.decode(token, secret, algorithms=["HS256"])["exp"] > time.time() + 300 * DAY_SECONDS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_while_its_input_is_open(tmp_path: Path, number: signal.Signals) -> None:
    words = ("mcp", "--server", "http://127.0.0.1:1", "--key", "k")
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}},
    }  # fmt: skip
    command, pipe = [sys.executable, "-P", "-m", "farm_core", *words], subprocess.PIPE
    with subprocess.Popen(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, stdin=pipe, stdout=pipe, text=True
    ) as agents:
        assert agents.stdin is not None and agents.stdout is not None
        print(json.dumps(hello), file=agents.stdin, flush=True)
        assert json.loads(agents.stdout.readline())["id"] == 1
        agents.send_signal(number)
        try:
            assert agents.wait(HANG_SECONDS) == -number
        finally:
            agents.kill()
