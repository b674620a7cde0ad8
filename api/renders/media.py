"""Uploads of an account among the values of a render's media inputs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from api.app_state import AppState
from farm_core.assets import repository as assets
from farm_core.storage.links import PATH_PREFIX
from farm_core.templates.manifest import fields_of
from farm_core.templates.models import Template
from motion.template import MEDIA_KINDS

_TEXTS_AT_ONCE: Final = 100
"""Addresses that are checked before other requests run: a batch can have hundreds of thousands."""

Uploads = Mapping[str, str | None]
"""Upload paths by input value. None for an address of another file of the farm."""


async def uploads_of(
    state: AppState, session: AsyncSession, account_id: str, origin: str, rows: Iterable[Any]
) -> Uploads:
    """Return the account's uploads among the values of rows of inputs, as they were sent.

    `origin` is the origin of the request: the farm can have several.
    """
    origins = frozenset(filter(None, (origin, state.settings.public_origin)))
    values = (value for row in rows if isinstance(row, dict) for value in row.values())
    texts = {value for value in values if isinstance(value, str) and PATH_PREFIX in value}
    keys: dict[str, str] = {}
    for number, url in enumerate(texts):
        if number % _TEXTS_AT_ONCE == 0:
            await asyncio.sleep(0)
        if key := assets.own_key(url, origins, state.links):
            keys[url] = key
    owned_keys = await assets.owned_keys(session, account_id, keys.values(), state.clock.now()) if keys else set()
    return {url: PATH_PREFIX + key if key in owned_keys else None for url, key in keys.items()}


def with_upload_paths(template: Template, inputs: Mapping[str, Any], uploads: Uploads) -> dict[str, Any]:
    """Replace addresses of the account's uploads by their paths, so that they are read from storage."""
    media = {field.id for field in fields_of(template) if field.kind in MEDIA_KINDS}
    return {name: (uploads.get(value) or value) if name in media else value for name, value in inputs.items()}
