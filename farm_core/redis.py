"""Connection to Redis (or Valkey). Everything in Redis can be lost."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

CHECK_KEY = "checked"
"""Key that health checks write: a full server or a replica answers a PING but refuses writes."""

ANSWER_SECONDS = 0.25
"""Time limit for an answer of Redis, so that a request does not wait long for a server that is away."""


def connect(url: str) -> Redis:
    """Return a client with short timeouts, so that requests stay fast if Redis is away."""
    return Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS, max_connections=64)


def stop_if_cancelled() -> None:
    """Raise CancelledError if the task was cancelled. Call it after a command, before a wait for something else.

    The client sends with `asyncio.wait_for`, which can swallow that before Python 3.12: the listener of a page that was closed at once
    stayed for ever, with its connection.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
