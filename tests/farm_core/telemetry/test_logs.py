"""Nothing secret passes into a log."""

from __future__ import annotations

import pytest

from farm_core.telemetry.logs import scrubbed


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key pm_live_abcDEF123-_x used", "pm_live_abcDEF123-_x"),
        ("Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln", "eyJhbGciOi.eyJzdWIi.c2ln"),
        ("http://farm/files/a.mp4?expires=1&signature=0123abcd", "0123abcd"),
        ("https://bucket/a?X-Amz-Signature=feed&x=1", "feed"),
        ("postgresql://ada:hunter2@db/farm", "hunter2"),
    ],
)
def test_secrets_are_hidden_wherever_they_stand(text: str, secret: str) -> None:
    assert secret not in scrubbed(text)


def test_the_rest_of_a_line_stays() -> None:
    assert scrubbed("GET /files/a.mp4?expires=1&signature=ab&filename=x") == (
        "GET /files/a.mp4?expires=1&signature=[hidden]&filename=x"
    )
