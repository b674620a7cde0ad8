"""Wait for a schema that another process creates."""

from __future__ import annotations

import threading

import pytest

from farm_core.db import schema, schema_update
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service


def test_a_program_waits_until_another_one_has_made_the_tables(empty_database_url: str) -> None:
    waiting = threading.Thread(target=schema.wait, args=(empty_database_url,), daemon=True)
    waiting.start()
    waiting.join(4 * schema.POLL_SECONDS)
    assert waiting.is_alive()
    schema_update.ensure(empty_database_url)
    waiting.join(HANG_SECONDS)
    assert not waiting.is_alive()


def test_a_program_does_not_wait_for_a_database_that_is_ahead_of_it(
    monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setattr(schema, "newest", lambda: "0001")
    monkeypatch.setattr(schema, "WAIT_SECONDS", float("inf"))
    schema.wait(database_url)


def test_a_program_that_waits_in_vain_goes_on(monkeypatch: pytest.MonkeyPatch, empty_database_url: str) -> None:
    monkeypatch.setattr(schema, "WAIT_SECONDS", 0.2)
    schema.wait(empty_database_url)
    schema.wait("postgresql://postgres@/farm?host=/nowhere")
