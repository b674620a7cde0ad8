"""Documents of several jobs are frozen in one call of the sandbox, and each job gets its own result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from benchmarks.queue import dependencies_of
from farm_core.db.database import Database
from farm_core.jobs.claims import ClaimedJob
from farm_core.sandbox import Arguments, Exhausted, Refused, Result, Sandbox
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from motion.template import InputField, Target
from scheduler.freezer import Freezer, FrozenDocument
from scheduler.sandboxed_freeze import FreezeRequest, freeze
from tests.api.world import document, layer

TITLE = {
    "id": "title", "name": "Title", "parent": "root", "children": [], "visible": True,
    "components": [{"id": "c", "type": "Transform", "props": {"__kind": "text", "content": ""}}],
}  # fmt: skip
ROOT = {"id": "root", "name": "Main", "parent": None, "children": ["title"], "visible": True, "components": []}
DOCUMENT = {"version": "1.8.0", "scene": {"nodes": [ROOT, TITLE]}, "animation": {}}


class CountingSandbox(Sandbox):
    """Sandbox that records the number of jobs per call. A call for more than `jobs_max` fails as one that takes too
    long."""

    def __init__(self, jobs_max: int = 1000) -> None:
        super().__init__()
        self.calls: list[int] = []
        self.jobs_max = jobs_max

    async def call(self, owner: str, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """Count the jobs, then call the sandbox."""
        requests = cast(tuple[Any, ...], arguments)[2]
        self.calls.append(len(requests))
        if self.calls[-1] > self.jobs_max:
            raise Exhausted
        return await super().call(owner, function, *arguments)


def job(number: int) -> ClaimedJob:
    return ClaimedJob(
        f"job_{number}", "hold", 1, 0, "acc_a", "http://farm", {}, 64, 64, 30, 30, None, {}, "tpl", "documents/title.json",
        [], {}, None, 1.0, "mp4", False, False, None, None, 0, None,
    )  # fmt: skip


def title(node: str = "title") -> list[InputField]:
    return [InputField("title", "Title", "text", False, None, Target(node, "Transform", "content"))]


async def frozen(
    folder: Path, sandbox: Sandbox, requests: Sequence[tuple[list[InputField], str]]
) -> tuple[LocalStorage, list[FrozenDocument | BaseException]]:
    """Freeze documents for several requests at once, each with its own title."""
    storage = LocalStorage(folder / "storage", Links(b"secret"))
    storage.put_bytes("documents/title.json", orjson.dumps(DOCUMENT))
    whole = dependencies_of(Database("postgresql://nobody@127.0.0.1:1/none"), storage, folder)
    dependencies = replace(whole, sandbox=sandbox)
    freezer = Freezer(dependencies)
    made = await asyncio.gather(
        *(freezer.freeze(job(n), fields, {"title": text}) for n, (fields, text) in enumerate(requests)),
        return_exceptions=True,
    )
    await freezer.drain()
    sandbox.close()
    assert not list((folder / "scratch").iterdir()), "no file is left"
    return storage, made


def title_of(storage: LocalStorage, document: FrozenDocument | BaseException) -> str:
    assert isinstance(document, FrozenDocument)
    data = storage.get_bytes(document.key)
    assert document.bytes == len(data)
    return str(orjson.loads(data)["scene"]["nodes"][1]["components"][0]["props"]["content"])


def test_jobs_of_an_account_that_wait_together_share_one_call(tmp_path: Path) -> None:
    sandbox = CountingSandbox()
    storage, made = asyncio.run(frozen(tmp_path, sandbox, [(title(), f"title {n}") for n in range(5)]))
    assert [title_of(storage, one) for one in made] == [f"title {n}" for n in range(5)]
    assert sandbox.calls == [5]


def test_an_input_that_is_refused_does_not_hurt_the_other_jobs(tmp_path: Path) -> None:
    requests = [(title(), "first"), (title("nowhere"), "second"), (title(), "third")]
    storage, made = asyncio.run(frozen(tmp_path, CountingSandbox(), requests))
    assert [title_of(storage, made[0]), title_of(storage, made[2])] == ["first", "third"]
    assert isinstance(made[1], Refused)
    assert "not in the document" in str(made[1])


def test_after_a_call_that_exceeds_a_limit_each_job_has_a_call_of_its_own(tmp_path: Path) -> None:
    sandbox = CountingSandbox(jobs_max=1)
    storage, made = asyncio.run(frozen(tmp_path, sandbox, [(title(), f"title {n}") for n in range(3)]))
    assert [title_of(storage, one) for one in made] == [f"title {n}" for n in range(3)]
    assert sandbox.calls == [3, 1, 1, 1]


def test_a_job_that_exceeds_a_limit_alone_is_refused(tmp_path: Path) -> None:
    _, made = asyncio.run(frozen(tmp_path, CountingSandbox(jobs_max=0), [(title(), "one"), (title(), "two")]))
    assert [type(one) for one in made] == [Exhausted, Exhausted]


@pytest.mark.parametrize("given", [False, True])
def test_a_job_without_an_optional_picture_says_that_its_layer_shows_nothing(tmp_path: Path, *, given: bool) -> None:
    source, target = tmp_path / "source.json", tmp_path / "target.json"
    source.write_bytes(orjson.dumps(document(layer("n1", "Logo", "image"))))
    logo = asdict(InputField("logo", "Logo", "image", False, None, Target("n1", "Transform", "src")))
    values: dict[str, str | float] = {"logo": "https://example.com/logo.png"} if given else {}
    request: FreezeRequest = {"fields": [logo], "values": values, "composition_id": None, "has_sound": False}
    (made,) = freeze(str(source), str(target), [request])
    messages = [notice["message"] for notice in made["notices"]]
    assert messages == ([] if given else ["Layer “Logo” shows nothing: it has no source."])


@pytest.mark.parametrize("count", [200, 201])
def test_a_document_with_more_media_than_a_render_can_fetch_is_refused_in_the_sandbox(
    tmp_path: Path, count: int
) -> None:
    """The scheduler received 300,000 addresses and looked at each, which blocked it."""
    source, target = tmp_path / "source.json", tmp_path / "target.json"
    shown = [
        layer(f"n{number}", "Photo", kind="image", src=f"https://example.com/{number}.png") for number in range(count)
    ]
    local = layer("local", "Local", kind="image", src="C:/photo.png")
    source.write_bytes(orjson.dumps(document(*shown, local)))
    (made,) = freeze(
        str(source), str(target), [FreezeRequest(fields=[], values={}, composition_id=None, has_sound=False)]
    )
    if count > 200:
        assert made.get("refused") == "It shows more than 200 different media; a render can fetch no more."
    else:
        assert len(made["sources"]) == 200
