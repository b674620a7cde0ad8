"""The Python client has a method for every operation of the API's document, in both of its forms."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from render_farm_client import ApiKey, AsyncFarmClient, FarmClient, Preset

from farm_core.settings import ROOT
from tests.api.conftest import own_world, settings, start
from tests.api.world import World, document, layer, picture
from tests.documents import bundle

__all__ = ["own_world", "settings", "start"]
NOT_OPERATIONS = {"close", "wait", "batch_rows"}
ARGUMENTS: dict[str, Any] = {
    "path": "", "body": {}, "inputs": {}, "rows": [{}], "version": 1, "animation_data": {}, "name": "n",
}  # fmt: skip


def documented() -> set[tuple[str, str]]:
    """Return method and path of every operation under /api/v1, with `{}` for each parameter."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "clients/typescript/generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in generate.document()["paths"].items()
        if path.startswith("/api/v1")
        for method in methods
    }


class Asked(Exception):
    """The request that a method begins with."""


def asked(request: httpx.Request) -> httpx.Response:
    raise Asked(request.method, re.sub(r"/(id|1)(?=/|$)", "/{}", request.url.path))


def operations(client: FarmClient | AsyncFarmClient, file: Path) -> set[tuple[str, str]]:
    """Return method and path of the first request of each method."""
    found = {first_request(client.still, {"template_id": "id"})}  # without inputs it is a GET
    for name, method in inspect.getmembers(client, inspect.ismethod):
        if name.startswith("_") or name in NOT_OPERATIONS:
            continue
        required = [one.name for one in inspect.signature(method).parameters.values() if one.default is one.empty]
        given: dict[str, Any] = {one: "id" if one.endswith("_id") else ARGUMENTS[one] for one in required}
        if "path" in given:
            given["path"] = file
        if name == "still":
            given["inputs"] = {}
        found.add(first_request(method, given))
    return found


def first_request(method: Callable[..., Any], given: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(Asked) as request:
        answer = method(**given)
        if isinstance(answer, Iterator):
            next(answer)
        elif isinstance(answer, AsyncIterator):
            asyncio.run(anext(answer))  # type: ignore[arg-type]
        else:
            asyncio.run(answer)
    return request.value.args[0], request.value.args[1]


@pytest.mark.parametrize("kind", [FarmClient, AsyncFarmClient])
def test_every_operation_has_a_method(kind: type[FarmClient | AsyncFarmClient], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    client = kind("http://farm.example", "key", transport=httpx.MockTransport(asked))
    assert operations(client, tmp_path / "file") == documented()


@pytest.mark.service
def test_keys_are_made_listed_and_revoked(own_world: World) -> None:
    token = own_world.account().headers["Authorization"].removeprefix("Bearer ")
    with FarmClient(own_world.origin, token=token) as farm:
        made = farm.create_key("CI", ["usage:read"], "2100-01-01T00:00:00Z")
        plain = farm.create_key()
        assert (made.name, made.scopes, made.expires_at) == ("CI", ["usage:read"], "2100-01-01T00:00:00.000Z")
        assert (plain.name, plain.expires_at, plain.revoked_at) == ("API key", None, None)
        with FarmClient(own_world.origin, made.secret) as other:
            assert other.usage()["activeApiKeys"] == 2
        farm.revoke_key(made.id)
        listed: list[ApiKey] = list(farm.keys())
        assert [(one.id, one.secret, one.revoked_at is None) for one in listed] == [
            (plain.id, None, True),
            (made.id, None, False),
        ]
        assert (listed[1].prefix, listed[1].request_count) == (str(made.secret)[:12], 1)


@pytest.mark.service
async def test_presets_are_published_listed_and_deleted(own_world: World) -> None:
    token = own_world.account().headers["Authorization"].removeprefix("Bearer ")
    async with AsyncFarmClient(own_world.origin, token=token) as farm:
        await farm.publish_preset("Bounce", {"tracks": []})
        second = await farm.publish_preset("Bounce", {"tracks": [1]})
        assert (second.version, second.animation_data) == (2, {"tracks": [1]})
        listed: list[Preset] = [one async for one in farm.presets()]
        assert [(one.id, one.name, one.animation_data) for one in listed] == [(second.id, "Bounce", None)]
        assert (await farm.preset(second.id)) == second
        await farm.delete_preset(second.id)
        assert [one async for one in farm.presets()] == []


@pytest.mark.service
def test_a_template_keeps_the_description_of_its_import(own_world: World, tmp_path: Path) -> None:
    token = own_world.account().headers["Authorization"].removeprefix("Bearer ")
    project, photo = tmp_path / "card.motion", tmp_path / "photo.png"
    project.write_bytes(bundle(document(layer("n1", "Photo", "image", src=""))))
    photo.write_bytes(picture())
    with FarmClient(own_world.origin, token=token) as farm:
        made = farm.import_template(project, name="Card", description="For the shop")
        assert made.raw["description"] == "For the shop"
        changed = farm.replace_template_by_import(made.id, project, description="For the window")
        assert (changed.name, farm.template(made.id).raw["description"]) == ("Card", "For the window")
        inputs = {"photo": farm.upload(photo).url}
        checked = farm.validate(made.id, inputs, callback_url="http://localhost/", metadata={"order": 1}, priority=11)
        assert [fault["field"] for fault in checked.errors] == ["callbackUrl", "priority"]
        assert checked.remaining_minutes == 60
