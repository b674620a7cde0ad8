"""Jobs share a video only if everything that affects its bytes is equal."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from farm_core.jobs.claims import ClaimedJob, FrozenJob
from scheduler.planner import plan_key
from scheduler.ports import VideoFormat

JOB = ClaimedJob(
    "job_a", "hold", 1, 0, "acc_a", "http://farm", {}, 64, 64, 30, 30, None, {}, "tpl", "documents/title.json",
    [], {}, None, 1.0, "mp4", False, False, None, None, 0, None,
)  # fmt: skip


def key_of(
    job: ClaimedJob, document_key: str = "frozen/a.json", source: str = "media/a.png", renderer: str = "r"
) -> str:
    return plan_key(FrozenJob(job, document_key, {"https://media.example/a.png": source}, 0), renderer)


@pytest.mark.parametrize("name", sorted({field.name for field in fields(VideoFormat)} - {"still_scale"}))
def test_each_property_of_the_output_counts(name: str) -> None:
    value: Any = getattr(JOB, name)
    other: Any = (
        not value if isinstance(value, bool) else value + 1 if isinstance(value, (int, float)) else f"{value} 2"
    )
    assert key_of(replace(JOB, **{name: other})) != key_of(JOB)


def test_document_media_and_renderer_count() -> None:
    others = [key_of(JOB, document_key="frozen/b.json"), key_of(JOB, source="media/b.png"), key_of(JOB, renderer="s")]
    assert key_of(JOB) not in others


def test_the_same_video_is_found_for_another_request() -> None:
    assert key_of(replace(JOB, id="job_b", lease_token="other", attempt=2, request_id="req_b")) == key_of(JOB)
