"""Checks of the stores that the settings name, before a farm starts: it would wait for them in vain."""

from __future__ import annotations

from cluster.embedded.process import ServerFailed
from farm_core.accounts.secret import farm_secret
from farm_core.settings import Settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links
from farm_core.storage.port import StorageUnavailable

REDIS_SECONDS = 5


def check_stores(settings: Settings) -> None:
    """Raise ServerFailed, with the reason, if Redis or the bucket cannot be used. The migrations check Postgres."""
    if settings.redis_url is not None:
        _check_redis(settings.redis_url)
    if settings.s3_bucket is None:
        return
    try:
        storage_of(settings, Links(farm_secret(settings))).check()
    except StorageUnavailable as error:
        remedy = "check S3_BUCKET, S3_ENDPOINT_URL and the AWS variables"
        raise ServerFailed(f"the bucket cannot be used: {error}; {remedy}") from error


def _check_redis(url: str) -> None:
    import redis  # noqa: PLC0415 - slow, and only needed for a Redis of the operator's own

    try:
        with redis.Redis.from_url(url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise ServerFailed(f"Redis cannot be used: {error}; check REDIS_URL") from error
