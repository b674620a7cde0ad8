"""Request bodies that would block the event loop: each account sends few at once, and the sandbox checks them."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from api.app_state import AppState
from farm_core.large_json import BODY, check_body, checked_body

LARGE_BYTES: Final = 256 * 1024
CONTAINERS_MANY: Final = 10_000
"""Objects and lists that make a body large: checking 100,000 of them, which fit into LARGE_BYTES, takes a quarter of a second."""
LARGE_PER_MINUTE: Final = 60


def slot(state: AppState, account_id: str, request: Request) -> AbstractAsyncContextManager[None]:
    """Return a context that limits the account's concurrent large bodies. Enter it before reading and leave it after
    the answer.
    """
    announced = request.headers.get("content-length", "0")
    is_large = "transfer-encoding" in request.headers or not announced.isdigit() or int(announced) > LARGE_BYTES
    return state.large_bodies.slot(account_id) if is_large else nullcontext()


def is_large(body: bytes) -> bool:
    """Return True if the sandbox must check the body."""
    return len(body) > LARGE_BYTES or body.count(b"{") + body.count(b"[") > CONTAINERS_MANY


async def value_of(state: AppState, account_id: str, body: bytes) -> Any:
    """Return the value of a large body. Documents and presets are RawObject. Raises BadRequest, RateLimited."""
    large = f"more than {LARGE_BYTES // 1024} KB, or than {CONTAINERS_MANY} objects and lists,"
    rule = f"At most {LARGE_PER_MINUTE} request bodies of {large} a minute are read."
    await state.rates.require(f"large-bodies:{account_id}", LARGE_PER_MINUTE, rule)
    with tempfile.TemporaryDirectory(prefix="farm-body-") as folder:
        await asyncio.to_thread(Path(folder, BODY).write_bytes, body)
        apart = await state.sandbox.call(account_id, check_body, folder)
        return await asyncio.to_thread(checked_body, folder, apart)
