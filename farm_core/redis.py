"""Connection to Redis (or Valkey). Everything in Redis can be lost."""

from __future__ import annotations

from redis.asyncio import Redis

CHECK_KEY = "checked"
"""Key that health checks write: a full server or a replica answers a PING but refuses writes."""

ANSWER_SECONDS = 0.25
"""Time limit for an answer of Redis, so that a request does not wait long for a server that is away."""


def connect(url: str) -> Redis:
    """Return a client with short timeouts, so that requests stay fast if Redis is away."""
    return Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS, max_connections=64)
