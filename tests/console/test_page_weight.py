"""Bytes and requests of a first page, for slow connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from console.pages import static_url
from tests.console.people import Person

pytestmark = [pytest.mark.service, pytest.mark.filterwarnings("default")]

LOADED = """() => performance.getEntries().filter((one) => 'transferSize' in one)
    .map((one) => [new URL(one.name).pathname.split('/').pop(), one.transferSize])"""


def test_a_first_page_loads_little(member: Person, window: Callable[..., Any]) -> None:
    page = window(member)
    page.goto(f"{member.origin}/console/templates", wait_until="networkidle")
    loaded = page.evaluate(LOADED)
    assert len(loaded) <= 23, loaded
    assert 50_000 < sum(size for _, size in loaded) < 115_000, loaded


def test_scripts_are_compressed_and_pages_are_not(member: Person) -> None:
    """An attacker who can read the size of compressed pages could guess their CSRF token byte by byte."""
    accepted = {"Accept-Encoding": "gzip"}
    for name in ("console.js", "console.css", "console.css"):
        answer = member.client.get(static_url(name), headers=accepted)
        assert answer.headers["content-encoding"] == "gzip", name
        assert answer.headers["vary"] == "Accept-Encoding"
        assert "max-age=31536000" in answer.headers["cache-control"]
    assert "content-encoding" not in member.client.get(static_url("inter-5.3.0.woff2"), headers=accepted).headers
    assert "content-encoding" not in member.get("/templates", headers=accepted).headers
