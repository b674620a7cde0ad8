"""Event stream of an open page: `changes` of renders, and `overview` for operators on that page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.app_state import AppState
from api.dependencies import AppStateOf
from console.farm_state.snapshot import Snapshot
from console.farm_state.snapshots import LIVE_SECONDS, Snapshots
from console.live.hub import FLUSH_SECONDS, Hub, Listener
from console.pages import fragment
from console.viewer import Viewer, ViewerOf, may_still_see
from farm_core.errors import RateLimited

router = APIRouter()
LIFETIME_SECONDS: Final = 300.0
"""Lifetime of a stream. The browser then opens the next one."""
STREAMS_PER_ACCOUNT: Final = 50
"""Limit of an account's open pages per process. Each of them receives every change of the account's renders."""
RETRY_SECONDS: Final = 30
ALIVE_SECONDS: Final = 15.0
"""Interval of keep-alive messages and session checks. After three silent intervals `stream.js` reports a lost connection."""
_SHOWN: Final = ("job_id", "status", "progress", "frames_done")
"""Fields of a change that `static/renders.js` reads."""


@router.get("/events")
async def events(request: Request, viewer: ViewerOf, state: AppStateOf, view: str = "") -> Response:
    """Return the event stream. A page has one stream, and closes it while the page is hidden."""
    snapshots: Snapshots | None = request.app.state.snapshots if view == "overview" and viewer.operator else None
    return _Stream(request.app.state.hub, viewer.account_id, partial(_events, state, viewer, snapshots))


class _Stream(StreamingResponse):
    """Event stream of a page. Counting the page and subscribing is one step, so a burst of pages cannot exceed the limit."""

    def __init__(self, hub: Hub, account_id: str | None, events_of: Callable[[Listener], AsyncIterator[str]]) -> None:
        super().__init__((), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._hub = hub
        self._account_id = account_id
        self._events_of = events_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the page is closed. Raises RateLimited."""
        if self._hub.count_of(self._account_id) >= STREAMS_PER_ACCOUNT:
            raise RateLimited(
                RETRY_SECONDS,
                f"An account can have {STREAMS_PER_ACCOUNT} open pages. Close some of them and reload this one.",
            )
        async with self._hub.listening(self._account_id) as listener:
            self.body_iterator = self._events_of(listener)
            await super().__call__(scope, receive, send)


async def _events(
    state: AppState, viewer: Viewer, snapshots: Snapshots | None, listener: Listener
) -> AsyncIterator[str]:
    now = time.monotonic()
    ends, next_check = now + LIFETIME_SECONDS, now + ALIVE_SECONDS
    yield "retry: 2000\n\n"
    while (now := time.monotonic()) < ends:
        if now >= next_check:
            if not await may_still_see(state, viewer):
                return  # the browser opens the next stream, which is then refused
            next_check = now + ALIVE_SECONDS
        if snapshots is not None:
            yield await snapshots.latest_html(_figures)
            await asyncio.sleep(LIVE_SECONDS)
        else:
            async for text in _changes(listener):
                yield text


async def _changes(listener: Listener) -> AsyncIterator[str]:
    changes = await listener.batch(ALIVE_SECONDS)
    if listener.missed:
        listener.missed = False
        yield _event("missed", "{}")
    shown = [{name: change[name] for name in _SHOWN if name in change} for change in changes]
    yield _event("changes", orjson.dumps(shown).decode()) if shown else _event("alive", "{}")
    await asyncio.sleep(FLUSH_SECONDS)


def _figures(snapshot: Snapshot) -> str:
    """Return the event for all viewers of the overview. It is the same for each of them."""
    return _event("overview", fragment("overview/figures.html", snapshot=snapshot, now=snapshot.at))


def _event(name: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.splitlines())
    return f"event: {name}\n{lines}\n"
