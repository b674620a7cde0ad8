"""Requests that are being handled, so that nothing is closed that they still use."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send


class RunningRequests:
    """Keep the tasks of the requests that are being handled in a set."""

    def __init__(self, app: ASGIApp, tasks: set[asyncio.Task[None]]) -> None:
        self._app = app
        self._tasks = tasks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request."""
        task = asyncio.current_task()
        if scope["type"] == "http" and task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await self._app(scope, receive, send)
