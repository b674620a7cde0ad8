"""The loop of the scheduler's services."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from scheduler import service
from scheduler.service import Service
from tests.patience import HANG_SECONDS


class Failing(Service):
    """Service that fails five times, three times in a row for the same reason."""

    def __init__(self, over: asyncio.Event) -> None:
        nothing: Any = None
        super().__init__(nothing)
        self._messages = iter(("away", "away", "away", "full", "away"))
        self._over = over

    async def tick(self) -> int:
        message = next(self._messages, None)
        if message is None:
            self._over.set()
            return 0
        raise OSError(message)


def test_the_same_failure_is_logged_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "RETRY_SECONDS", 0)

    async def story() -> None:
        over = asyncio.Event()
        failing = Failing(over)
        failing.start()
        await asyncio.wait_for(over.wait(), HANG_SECONDS)
        await failing.stop()

    with capture_logs() as lines:
        asyncio.run(story())
    assert [line["error"] for line in lines] == ["OSError: away", "OSError: full", "OSError: away"]
