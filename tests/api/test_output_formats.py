"""`output.format`: only MP4 unless the operator allows more (`OUTPUT_FORMATS`); and sound (`RENDER_AUDIO`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from farm_core.settings import BadSettings, Settings, settings
from tests.api.test_renders import errors
from tests.api.world import World

pytestmark = pytest.mark.service
OPEN = "mp4, webm,gif ,png-sequence"


def stored(world: World, job_id: str) -> tuple[Any, ...]:
    row = world.database.execute("SELECT format, transparent, has_sound FROM jobs WHERE id = %s", (job_id,)).fetchone()
    assert row is not None
    return row


def test_by_default_a_render_is_a_silent_mp4(own_world: World) -> None:
    ada = own_world.account()
    assert stored(own_world, ada.job()) == ("mp4", False, False)
    answer = ada.render(ada.template(), output={"format": "webm"})
    allow = "Whoever runs the farm can allow other formats with OUTPUT_FORMATS."
    assert errors(answer) == {"output.format": f"must be mp4. {allow}"}
    assert errors(ada.render(ada.template(), output={"format": "avi"})) == {"output.format": "must be mp4"}


def test_the_operator_may_allow_more(start: Callable[..., World]) -> None:
    world = start(output_formats=OPEN, render_audio=True)
    ada = world.account()
    assert stored(world, ada.job()) == ("mp4", False, True)
    assert stored(world, ada.job(output={"format": "webm", "transparent": True})) == ("webm", True, True)
    assert stored(world, ada.job(output={"format": "gif"})) == ("gif", False, False)
    refused = errors(ada.render(ada.template(), output={"format": "mov"}))["output.format"]
    assert refused.startswith("must be mp4 or webm or gif or png-sequence. Whoever runs the farm")


@pytest.mark.parametrize(
    ("output", "field", "words"),
    [
        ({"format": "mp4", "transparent": True}, "output.transparent", "which has no transparency"),
        ({"format": "webm", "transparent": "yes"}, "output.transparent", "must be true or false"),
        ({"format": "gif", "fps": 60}, "output.fps", "at most 50 frames per second"),
        ({"format": ["webm"]}, "output.format", "must be"),
    ],
)
def test_options_that_a_format_lacks_are_refused(
    start: Callable[..., World], output: dict[str, Any], field: str, words: str
) -> None:
    ada = start(output_formats=OPEN).account()
    found = errors(ada.render(ada.template(), output=output))
    assert list(found) == [field]
    assert words in found[field]


def test_a_finished_render_is_saved_under_its_own_ending(start: Callable[..., World]) -> None:
    world = start(output_formats=OPEN)
    ada = world.account()
    job = ada.job(output={"format": "webm"})
    world.move(job, "completed", video_key="results/x.webm")
    assert f"filename={job}.webm" in ada.get(f"/renders/{job}").json()["videoUrl"]


def output_schema(world: World) -> dict[str, Any]:
    document = world.client.get("/api/openapi.json").json()
    fields: dict[str, Any] = document["components"]["schemas"]["RenderOutput"]["properties"]
    return fields


def test_the_document_lists_the_formats_that_the_operator_allows(start: Callable[..., World]) -> None:
    fields = output_schema(start(output_formats=OPEN))
    assert fields["format"]["enum"] == ["mp4", "webm", "gif", "png-sequence", None]
    assert fields["transparent"]["description"].endswith("Possible with webm, gif, png-sequence.")
    fields = output_schema(start())
    assert fields["format"] == {"type": ["string", "null"], "enum": ["mp4", None]}
    assert "transparent" not in fields


@pytest.mark.parametrize("value", ["avi", "mp4,,gif", "mp4;gif"])
def test_unknown_formats_are_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OUTPUT_FORMATS", value)
    settings.cache_clear()
    with pytest.raises(BadSettings, match="OUTPUT_FORMATS"):
        settings()
    settings.cache_clear()


def test_formats_are_listed_once_in_order() -> None:
    assert Settings(output_formats="gif, mp4,gif").accepted_formats == ("gif", "mp4")
