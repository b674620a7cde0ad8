"""Uploads of an account for pages: file name and picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from farm_core.assets import repository as assets
from farm_core.assets.kinds import is_picture

_LINK_SECONDS: Final = 3600
_NO_NAME: Final = "an uploaded file"


@dataclass(frozen=True, slots=True)
class ShownUpload:
    """An upload on a page. `picture` is its address on the console's origin, or empty if it is not a picture."""

    name: str
    picture: str


async def shown_uploads(
    state: AppState, session: AsyncSession, account_id: str, origin: str, values: Iterable[Any]
) -> Mapping[str, ShownUpload]:
    """Return the account's unexpired uploads among the values, by their addresses."""
    origins = frozenset(filter(None, (origin, state.settings.public_origin)))
    texts = {value for value in values if isinstance(value, str)}
    keys = {url: key for url in texts if (key := assets.own_key(url, origins, state.links))}
    names = await assets.owned_names(session, account_id, keys.values(), state.clock.now()) if keys else {}
    return {url: shown_upload(state, key, names[key]) for url, key in keys.items() if key in names}


def shown_upload(state: AppState, key: str, name: str | None) -> ShownUpload:
    """Return the upload with the storage key."""
    expires_at = state.links.in_seconds(_LINK_SECONDS, _LINK_SECONDS)
    return ShownUpload(name or _NO_NAME, state.links.url("", key, expires_at) if is_picture(key) else "")
