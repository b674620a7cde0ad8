"""Serve stored objects from the console's own origin, with byte ranges."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from api.app_state import app_state_of
from api.files.endpoints import answer
from farm_core.errors import NotFound
from farm_core.storage.port import ObjectMissing


async def stored(request: Request, key: str | None) -> Response:
    """Return the object. Raises NotFound if it is gone. The caller must check its owner."""
    storage = app_state_of(request).storage
    if key is None:
        raise NotFound("There is no such file yet.")
    try:
        facts = await asyncio.to_thread(storage.describe, key)
        return await answer(request, storage, facts)
    except ObjectMissing:
        raise NotFound("The file is gone: results are kept for a limited time.") from None
