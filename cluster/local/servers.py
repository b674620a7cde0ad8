"""Check the servers that the settings name before a farm starts.

The servers may still be starting, for example after a power cut, so the checks wait up to STARTING_SECONDS in total. Wrong
passwords and missing buckets fail at once.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from cluster.embedded.process import ServerFailed
from farm_core.db import answering
from farm_core.db.answering import ANSWER_SECONDS, POLL_SECONDS, STARTING_SECONDS
from farm_core.settings import RAY_FINDS_IT, Settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links
from farm_core.storage.port import StorageUnavailable
from farm_core.telemetry import logs

_log = logs.logger(__name__)


class _Server(NamedTuple):
    """An external server. `fault` returns a reason to wait, or None if it is usable. It raises ServerFailed for other faults."""

    name: str
    settings: str
    fault: Callable[[], str | None]


def wait_for_servers(settings: Settings, ended: Callable[[], bool], seconds: float = STARTING_SECONDS) -> None:
    """Wait until all servers of the settings are usable or `ended` returns True. Raises ServerFailed with the reason, and OtherStorage."""
    deadline = time.monotonic() + seconds
    for server in _servers(settings):
        waits = False
        while (fault := server.fault()) is not None and not ended():
            if time.monotonic() >= deadline:
                raise _failed(server.name, fault, server.settings)
            if not waits:
                _log.warning("waits for a server to answer", server=server.name, reason=fault, seconds=seconds)
            waits = True
            time.sleep(POLL_SECONDS)
    if settings.database_url is not None and not ended():
        _refuse_other_storage(settings, settings.database_url)


def _refuse_other_storage(settings: Settings, database_url: str) -> None:
    from farm_core.db import storage_claim  # noqa: PLC0415 - slow, and only needed for a database of the operator's own

    asyncio.run(storage_claim.check(database_url, storage_of(settings, Links(b""))))


def _servers(settings: Settings) -> Iterator[_Server]:
    if (database_url := settings.database_url) is not None:
        yield _Server("the database", "DATABASE_URL", lambda: answering.fault_of(database_url))
    if (redis_url := settings.redis_url) is not None:
        yield _Server("Redis", "REDIS_URL", lambda: _redis_fault(redis_url))
    if settings.s3_bucket is not None:
        yield _Server("the bucket", _S3_SETTINGS, lambda: _bucket_fault(settings))
    if settings.ray_addresses:
        yield _Server("Ray", "RAY_ADDRESS", lambda: _ray_fault(settings.ray_addresses))


_S3_SETTINGS: Final = "S3_BUCKET, S3_ENDPOINT_URL and the AWS variables"


def _failed(name: str, fault: object, settings: str) -> ServerFailed:
    return ServerFailed(f"{name} cannot be used: {fault}; check {settings}")


def _redis_fault(url: str) -> str | None:
    import redis  # noqa: PLC0415 - slow, and only needed for a Redis of the operator's own

    try:
        with redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS) as client:
            client.ping()
    except (redis.AuthenticationError, redis.exceptions.AuthorizationError) as error:
        raise _failed("Redis", error, "REDIS_URL") from error
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        return str(error).rstrip(".")
    except (redis.RedisError, ValueError) as error:
        raise _failed("Redis", error, "REDIS_URL") from error
    return None


def _bucket_fault(settings: Settings) -> str | None:
    if settings.s3_endpoint_url is not None:
        endpoint = urlsplit(settings.s3_endpoint_url)
        port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
        if (fault := _connection_fault(endpoint.hostname or "", port)) is not None:
            return fault
    try:
        storage_of(settings).check()
    except StorageUnavailable as error:
        raise _failed("the bucket", error, _S3_SETTINGS) from error
    return None


def _ray_fault(addresses: tuple[str, ...]) -> str | None:
    """Return None if at least one cluster accepts connections. The farm works with the reachable ones."""
    faults = []
    for address in addresses:
        if address == RAY_FINDS_IT:
            return None
        host, _, port = address.rpartition(":")
        if (fault := _connection_fault(host, int(port))) is None:
            return None
        faults.append(fault)
    return "; ".join(faults)


def _connection_fault(host: str, port: int) -> str | None:
    try:
        socket.create_connection((host, port), ANSWER_SECONDS).close()
    except OSError as error:
        return f"{host}:{port} accepts no connection: {error.strerror or error}"
    return None
