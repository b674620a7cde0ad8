"""Checks of Postgres, Redis, storage and Ray.

Stores of the settings and of a running farm are asked. Embedded stores that do not run are started for the check.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
import psycopg
import redis

from cluster.diagnosis.finding import Finding
from cluster.embedded import postgres, valkey
from cluster.local.addresses import AddressUnusable, check_free
from farm_core import running
from farm_core.clock import SystemClock
from farm_core.db.postgres_clock import WRONG_SECONDS
from farm_core.db.urls import libpq_url
from farm_core.redis import CHECK_KEY
from farm_core.settings import RAY_FINDS_IT, Settings, temporary_folder
from farm_core.storage.choice import storage_of
from farm_core.storage.disk_space import check_room, reserve_bytes
from farm_core.storage.port import StorageUnavailable

FREE_BYTES_LEAST = 2_000_000_000
FREE_SPACE = "Free space on its disk. It goes on by itself."


def store_findings(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each store."""
    examinations: tuple[tuple[str, Callable[[Settings], str], str], ...] = (
        ("postgres", _postgres, _remedy(settings, settings.database_url, "DATABASE_URL")),
        ("redis", _redis, _remedy(settings, settings.redis_url, "REDIS_URL")),
        (
            "storage",
            _storage,
            f"Make {settings.data_folder} writable, and free space where its disk is full."
            if settings.s3_bucket is None
            else "Check S3_BUCKET, S3_ENDPOINT_URL and the AWS variables.",
        ),
        ("ray", _ray, "Check RAY_ADDRESS, or unset it to have ./farm up start a local cluster."),
    )
    for subject, examine, remedy in examinations:
        try:
            yield Finding(subject, "good", examine(settings))
        except Exception as error:
            # The boundary of a check: any error of a store is a finding, and the next store is checked.
            first_line = str(error).strip().partition("\n")[0]  # some errors, such as timeouts, have no message
            fact = ": ".join(filter(None, (type(error).__name__, first_line)))
            yield Finding(subject, "bad", fact, FREE_SPACE if os.strerror(errno.ENOSPC) in first_line else remedy)
    yield from _clock(settings)
    yield _disk(settings)
    yield from _temporary_files()
    yield from _metrics(settings)


def _running(settings: Settings) -> running.Running | None:
    """Return the farm that runs on the data folder, or None."""
    found = running.read(settings.data_folder)
    return found if found is not None and psutil.pid_exists(found.pid) else None


def _remedy(settings: Settings, url: str | None, name: str) -> str:
    if url is None and _running(settings) is not None:
        return (
            f"Read {settings.data_folder / 'logs'}, or restart the farm. Run the doctor as the user who runs the farm."
        )
    if url is None:
        return f"The embedded server does not start. Mend the reason, or name a server of your own in {name}."
    return f"Check {name}, or unset it to use the embedded server."


_WRITE: Final = "CREATE TEMP TABLE farm_doctor ON COMMIT DROP AS SELECT md5(n::text) FROM generate_series(1, 5000) AS n"
"""Statement that takes 300 KB of the server's disk until its transaction ends."""


def _postgres(settings: Settings) -> str:
    if settings.database_url is not None:
        return f"version {_version(libpq_url(settings.database_url))}, as DATABASE_URL says"
    if (farm := _running(settings)) is not None:
        return f"version {_version(libpq_url(farm.database_url))}, of the running farm"
    with tempfile.TemporaryDirectory(prefix="farm-doctor-") as folder:
        server = postgres.start(Path(folder) / "postgres", durable=False)
        try:
            return f"version {_version(server.url)}, embedded"
        finally:
            server.stop()


def _version(url: str) -> str:
    """Return the server's version. Raises psycopg.Error if the server does not answer, takes no writes or has a full disk."""
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute(_WRITE)
        row = connection.execute("SHOW server_version").fetchone()
        return str(row[0]) if row else "unknown"


def _redis(settings: Settings) -> str:
    if settings.redis_url is not None:
        return f"{_pinged(settings.redis_url)}, as REDIS_URL says"
    if (farm := _running(settings)) is not None:
        return f"{_pinged(farm.redis_url)}, of the running farm"
    with tempfile.TemporaryDirectory(prefix="farm-doctor-") as folder:
        server = valkey.start(Path(folder))
        try:
            return f"{_pinged(server.url)}, embedded"
        finally:
            server.stop()


def _pinged(url: str) -> str:
    client = redis.Redis.from_url(url, socket_timeout=5)
    try:
        facts: dict[str, str] = client.info("server")
        client.set(CHECK_KEY, 1, ex=60)
        return f"{facts.get('server_name', 'redis')} {facts.get('valkey_version', facts.get('redis_version'))}"
    finally:
        client.close()


def _storage(settings: Settings) -> str:
    storage, key = storage_of(settings), f"doctor/{secrets.token_hex(8)}"
    storage.put_bytes(key, b"a probe")
    try:
        if storage.get_bytes(key) != b"a probe":
            raise OSError("what was read is not what was written")
    finally:
        storage.delete(key)
    return f"bucket {settings.s3_bucket}" if settings.s3_bucket else f"files in {settings.data_folder}"


def _ray(settings: Settings) -> str:
    if settings.ray_address == RAY_FINDS_IT:
        return "found by Ray when a scheduler starts"
    for address in settings.ray_addresses:
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=5).close()
    if settings.ray_address is not None:
        return f"answers at {settings.ray_address}"
    if importlib.util.find_spec("ray") is None:
        raise OSError("not installed")
    import ray  # noqa: PLC0415 - slow

    return f"version {ray.__version__}, started by ./farm up"


def _clock(settings: Settings) -> Iterator[Finding]:
    """Report a clock that differs from that of a Postgres on another machine. If Postgres is away, another finding says so."""
    if settings.database_url is None:
        return
    with suppress(psycopg.Error), psycopg.connect(libpq_url(settings.database_url), connect_timeout=5) as connection:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
        ahead = (SystemClock().now() - row[0]).total_seconds() if row else 0.0
        if abs(ahead) > WRONG_SECONDS:
            fact = f"this machine is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} Postgres"
            remedy = "Have both machines follow a time server. Tokens and logs go by the machine, and buckets refuse one that is 15 minutes off."
            yield Finding("clock", "poor", fact, remedy)


def _disk(settings: Settings) -> Finding:
    folder = settings.data_folder.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        disk = shutil.disk_usage(folder)
    except OSError as error:
        fact = f"{folder} cannot be the data folder: {error.strerror}"
        return Finding("disk", "bad", fact, "Name another one with --data or DATA_FOLDER.")
    fact, reserve = f"{disk.free / 1e9:.1f} GB free for {folder}", reserve_bytes(disk.total)
    if disk.free >= FREE_BYTES_LEAST:
        return Finding("disk", "good", fact)
    if disk.free <= reserve and settings.s3_bucket is None:
        remedy = (
            "Free space, or lower SEGMENT_CACHE_BYTES or RESULT_DAYS. Until then large files are refused, and the jobs of every account that "
            f"stores more than {reserve / 1e9:.1f} GB wait: if all accounts do, nothing is rendered."
        )
        return Finding("disk", "bad", f"{fact}, less than the reserve of {reserve / 1e9:.1f} GB", remedy)
    return Finding(
        "disk",
        "poor",
        fact,
        "Lower SEGMENT_CACHE_BYTES or RESULT_DAYS, or free space. Below 1 GB, or a tenth of a small disk, large files are refused and jobs "
        "of accounts that store much wait; while the disk is full, all jobs wait.",
    )


def _temporary_files() -> Iterator[Finding]:
    try:
        check_room(temporary_folder())
    except (StorageUnavailable, OSError) as error:
        yield Finding(
            "disk", "bad", str(error), "Free some space, or name another folder with TMPDIR. Jobs wait meanwhile."
        )


def _metrics(settings: Settings) -> Iterator[Finding]:
    """Report a metrics address that this machine cannot listen on. Schedulers also work without metrics."""
    if settings.metrics_port is None:
        return
    try:
        check_free(settings.metrics_host, 0)
    except AddressUnusable as error:
        yield Finding("metrics", "poor", f"{settings.metrics_host}: {error.__cause__}", "Check METRICS_HOST.")
