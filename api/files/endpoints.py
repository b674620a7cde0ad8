"""`/files/`: stored objects, by signed link, or to a session of the account that owns them; with byte ranges."""

from __future__ import annotations

import asyncio
import hashlib
import re
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from sqlalchemy import select
from sqlmodel import col
from starlette.responses import Response

from api.app_state import AppState
from api.auth import bearer, session_account
from api.conditional import is_known
from api.dependencies import AppStateOf
from api.errors import StatusError, envelope
from api.file_streams import FileChunks, FileStream
from api.files.ranges import Span, Unsatisfiable, span_of
from farm_core.assets import repository as assets
from farm_core.errors import Forbidden, NotFound
from farm_core.jobs.models import Job
from farm_core.storage.keys import is_key
from farm_core.storage.port import ObjectMissing, Storage, StoredObject

router = APIRouter(include_in_schema=False)
_PLAYED: Final = ("video/", "audio/")
_UNQUOTABLE: Final = re.compile(r"[^ !#-\[\]-~]")
_NOT_HERE: Final = "There is no such file, or it has expired."
_BAD_LINK: Final = (
    "This link is not valid, or has expired. Read the render again for a new one, or upload the file again."
)


@router.api_route("/files/{key:path}", methods=["GET", "HEAD"])
async def get_file(request: Request, state: AppStateOf, key: str) -> Response:
    """Return the object's bytes, all of them or a range."""
    if not is_key(key):
        raise NotFound(_NOT_HERE)
    await _admit(request, state, key)
    try:
        facts = await asyncio.to_thread(state.storage.describe, key)
        return await answer(request, state.storage, facts)
    except ObjectMissing:
        raise NotFound(_NOT_HERE) from None


async def _admit(request: Request, state: AppState, key: str) -> None:
    """Check access.

    Raises Forbidden for an invalid link, Unauthorized without one, NotFound for another account's file.
    """
    query = request.query_params
    if "signature" in query:
        parts = (query.get("expires", ""), query["signature"], query.get("filename", ""))
        if not state.links.opens(key, *parts):
            raise Forbidden(_BAD_LINK)
        return
    account = await session_account(state, bearer(request.headers))
    async with state.database.reading() as session:
        job = select(col(Job.id)).where(col(Job.video_key) == key, col(Job.account_id) == account.id)
        if not await assets.owned(session, account.id, key, state.clock.now()) and not await session.scalar(job):
            raise NotFound(_NOT_HERE)


async def answer(request: Request, storage: Storage, facts: StoredObject) -> Response:
    """Answer with the object, or the range of it that is asked for. Raises ObjectMissing."""
    tag = f'"{hashlib.sha256(f"{facts.key} {facts.bytes} {facts.modified_at}".encode()).hexdigest()[:32]}"'
    headers = _headers(request, facts, tag)
    if is_known(request.headers, tag):
        return Response(status_code=304, headers=headers)
    asked = request.headers.get("range") if request.headers.get("if-range", tag) == tag else None
    try:
        span = span_of(asked, facts.bytes)
    except Unsatisfiable:
        headers = {"Content-Range": f"bytes */{facts.bytes}"}
        return envelope(request.scope, StatusError(416, f"The file has {facts.bytes} bytes."), headers)
    whole = span or Span(0, facts.bytes)
    headers["Content-Length"] = str(whole.end - whole.start)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{facts.bytes}"
    status = 200 if span is None else 206
    if request.method == "HEAD" or not facts.bytes:
        return Response(status_code=status, headers=headers, media_type=facts.content_type)
    # Open it before the status is sent: storage that is away has a status of its own.
    stream = await asyncio.to_thread(storage.open_range, facts.key, whole.start, whole.end)
    return FileStream(FileChunks(stream), status, headers, facts.content_type)


def _headers(request: Request, facts: StoredObject, tag: str) -> dict[str, str]:
    filename = request.query_params.get("filename")
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Cache-Control": "private, max-age=3600",
        "X-Content-Type-Options": "nosniff",
    }
    # A browser's own player is a page of its own, which the policy would stop.
    if not facts.content_type.startswith(_PLAYED):
        headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    if filename:
        plain = _UNQUOTABLE.sub("_", filename)
        headers["Content-Disposition"] = f"inline; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
    return headers
