"""Sources of a job's media: public URLs, fetched through the guard, and uploads of the account, read from storage."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farm_core.accounts import repository as accounts
from farm_core.accounts.plans import limits_of
from farm_core.assets import repository as assets
from farm_core.jobs.claims import ClaimedJob
from farm_core.net.addresses import UrlRefused
from farm_core.net.fetch import FetchFailed, guarded_get
from farm_core.storage.port import ObjectMissing
from scheduler.dependencies import Dependencies

FETCH_BYTES_MAX: Final = 80 * 1024 * 1024


class MediaUnavailable(Exception):
    """A source cannot be fetched. The message is fit for callers. `lasting`: another attempt cannot succeed."""

    def __init__(self, message: str, *, lasting: bool) -> None:
        super().__init__(message)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class FetchedMedia:
    """A source's bytes in a file. `counted_bytes` is the number of bytes fetched over the network, which count
    against the account."""

    path: Path
    counted_bytes: int


@asynccontextmanager
async def fetched_media(dependencies: Dependencies, job: ClaimedJob, source: str) -> AsyncIterator[FetchedMedia]:
    """Yield a file with the source's bytes, and delete it when the block ends. Raises MediaUnavailable."""
    origins = {origin for origin in (job.origin, dependencies.settings.public_origin) if origin is not None}
    key = assets.own_key(f"{job.origin}{source}" if source.startswith("/") else source, origins)
    media = await (_own(dependencies, job, key) if key else _foreign(dependencies, job, source))
    try:
        yield media
    finally:
        media.path.unlink(missing_ok=True)


async def _own(dependencies: Dependencies, job: ClaimedJob, key: str) -> FetchedMedia:
    async with dependencies.database.work() as session:
        found = await assets.owned(session, job.account_id, key, dependencies.clock.now())
    if found is None:
        raise MediaUnavailable("the account has no such upload, or it has expired.", lasting=True)
    with tempfile.NamedTemporaryFile(dir=dependencies.scratch, delete=False) as file:
        path = Path(file.name)
    try:
        await asyncio.to_thread(dependencies.storage.get_file, key, path)
    except BaseException as error:
        path.unlink(missing_ok=True)  # noqa: ASYNC240 - one short system call
        if isinstance(error, ObjectMissing):
            raise MediaUnavailable("the upload has been deleted.", lasting=True) from None
        raise
    return FetchedMedia(path, 0)


async def _foreign(dependencies: Dependencies, job: ClaimedJob, source: str) -> FetchedMedia:
    async with dependencies.database.work() as session:
        account = await accounts.account(session, job.account_id)
    limit = limits_of(account).max_upload_bytes if account else 0
    bytes_max = FETCH_BYTES_MAX if limit is None else min(limit, FETCH_BYTES_MAX)
    try:
        fetched = await guarded_get(source, bytes_max, dependencies.media_guard)
    except UrlRefused as refusal:
        raise MediaUnavailable(str(refusal), lasting=True) from refusal
    except FetchFailed as failure:
        raise MediaUnavailable(failure.message, lasting=not failure.is_retryable) from failure
    return FetchedMedia(fetched.path, fetched.bytes)
