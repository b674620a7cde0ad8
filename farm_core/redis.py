"""The connection to Redis (or Valkey), which holds nothing that may not be lost."""

from __future__ import annotations

from redis.asyncio import Redis

CHECK_KEY = "checked"
"""Key that checks write: a server that is full, or a replica, answers a PING but refuses writes."""

ANSWER_SECONDS = 0.25
"""Redis is near and quick; a request does not wait longer for one that is not."""


def connect(url: str) -> Redis:
    """A client that gives up quickly, so that its absence costs a request little."""
    return Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS, max_connections=64)
