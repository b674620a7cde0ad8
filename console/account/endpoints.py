"""Pages of the signed-in account: usage and limits, API keys, webhooks."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_hex
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel
from sqlalchemy import Row, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Origin, Page, Reading, Work
from api.keys import service as keys
from api.keys.schemas import KeyRequest
from console import keyset
from console.charts import Chart
from console.errors import ActionRefused
from console.pages import page
from console.snippets import first_call
from console.viewer import ChangerOf, Viewer, ViewerOf
from farm_core.accounts import repository as accounts
from farm_core.accounts.scopes import DEFAULT_SCOPES, Scope
from farm_core.audit.log import record
from farm_core.errors import BadRequest
from farm_core.jobs.models import Job
from farm_core.jobs.status import DeliveryStatus
from farm_core.statistics import repository as statistics
from farm_core.usage import repository as usage
from farm_core.usage.stored import stored_bytes
from farm_core.webhooks.models import Delivery

router = APIRouter(prefix="/account")
WEBHOOKS_MAX: Final = 50
KEYS_MAX: Final = 100
SEARCHED_MAX: Final = 5_000
"""Number of renders with a webhook among which a page of webhooks is searched. A render has no webhook before it ends."""
KeysFrom = Annotated[int, Query(ge=0, le=1_000_000)]
LIFETIMES: Final = {"": None, "7": timedelta(days=7), "30": timedelta(days=30), "365": timedelta(days=365)}


class KeyForm(BaseModel):
    """The form that creates a key. `once` is a random value of its page."""

    name: str = ""
    lifetime: str = ""
    scope: list[str] = []
    once: str = ""

    def key_id(self, account_id: str) -> str | None:
        """Return the id of the key. An unchanged form that is sent again has the same one."""
        return f"key_{sha256(f'{account_id} {self!r}'.encode()).hexdigest()[:22]}" if self.once else None


@router.get("")
async def account_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, keys_from: KeysFrom = 0
) -> Response:
    """Return the page with this month's usage and the keys, from the key `keys_from` on."""
    return await _page(request, viewer, state, work, keys_from)


@router.post("/keys")
async def create_key(
    request: Request, viewer: ChangerOf, state: AppStateOf, work: Work, origin: Origin, form: Annotated[KeyForm, Form()]
) -> Response:  # fmt: skip
    """Create a key and show its secret. The secret is shown only once, so a form that is sent again after its answer was
    lost replaces the key."""
    _refuse_acting(viewer)
    if not form.scope or not set(form.scope) <= set(Scope):
        raise BadRequest("Choose at least one scope for the key.")
    given: dict[str, Any] = {"name": form.name or "API key", "scopes": form.scope}
    if (chosen := LIFETIMES.get(form.lifetime)) is not None:
        given["expiresAt"] = (state.clock.now() + chosen).isoformat()
    made = await keys.create(state, viewer.caller, KeyRequest.model_validate(given), form.key_id(viewer.account.id))
    await record(work, viewer.actor, "create key", f"key {made.id}", {"name": made.name, "scopes": form.scope})
    call = first_call(origin, made.secret, form.scope)
    return await _page(request, viewer, state, work, secret=made.secret, secret_name=made.name, first_call=call)


@router.post("/keys/{key_id}/revoke")
async def revoke_key(
    viewer: ChangerOf, state: AppStateOf, work: Work, key_id: str, keys_from: KeysFrom = 0
) -> Response:
    """Revoke a key. Its next request fails. Lead back to the part of the list that has it."""
    await keys.revoke(work, state, viewer.caller, key_id)
    await record(work, viewer.actor, "revoke key", f"key {key_id}")
    part = f"?keys_from={keys_from}" if keys_from else ""
    return RedirectResponse(f"/console/account{part}#keys", 303)


@router.get("/webhooks")
async def webhooks_page(
    request: Request, viewer: ViewerOf, work: Reading, status: str = "", after: str = ""
) -> Response:
    """Return a page of webhooks with their receivers' responses, of the newest renders first, or of those with a status."""
    chosen = DeliveryStatus(status) if status in set(DeliveryStatus) else None
    rows = await _webhooks(work, viewer.account_id, chosen, after)
    values: dict[str, Any] = {
        "deliveries": [row[0] for row in rows[:WEBHOOKS_MAX]], "status": chosen or "", "after": after,
        "following": keyset.key_of(rows[WEBHOOKS_MAX - 1]) if len(rows) > WEBHOOKS_MAX else None,
    }  # fmt: skip
    return page(request, "account/webhooks.html", title="Webhooks", **values)


def _refuse_acting(viewer: Viewer) -> None:
    """Raise ActionRefused for an operator who acts as the account: a secret would outlive the visit."""
    if viewer.acting:
        raise ActionRefused("Keys are created by the account itself, not by an operator who is signed in as it.")


async def _page(
    request: Request, viewer: Viewer, state: AppStateOf, work: AsyncSession, keys_from: int = 0, **secret: Any
) -> Response:
    now = state.clock.now()
    listed = await keys.page(work, viewer.caller, Page(KEYS_MAX, keys_from))
    values: dict[str, Any] = {
        "used": await usage.of_month(work, viewer.account.id, now), "keys": listed.items, "keys_from": keys_from, "keys_total": listed.total, "keys_max": KEYS_MAX, "limits": viewer.caller.limits,
        "minutes": await usage.minutes(work, viewer.account.id, now), "chart": await _month(state, viewer.account.id, now),
        "stored": await stored_bytes(work, viewer.account.id),
        "active_keys": await accounts.active_keys(work, viewer.account.id, now), "scopes": list(Scope),
        "default_scopes": DEFAULT_SCOPES, "month": now.strftime("%B %Y"), "title": "Account",
        "once": token_hex(16), "secret": None, "secret_name": "", "first_call": None,
    }  # fmt: skip
    return page(request, "account/account.html", **values | secret)


async def _month(state: AppStateOf, account_id: str, now: datetime) -> Chart:
    await statistics.catch_up(state.database, now)
    since = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    days = calendar.monthrange(since.year, since.month)[1]
    return Chart(await statistics.bars(state.database, since, timedelta(days=1), days, account_id), timedelta(days=1))


async def _webhooks(
    work: AsyncSession, account_id: str | None, status: DeliveryStatus | None, after: str
) -> Sequence[Row[Delivery, str, datetime]]:
    """Return the deliveries after a key, those with the status if given, with the id and time of their renders, newest first.

    Return one more than a page has if there are more.
    """
    newest = select(col(Job.id), col(Job.created_at)).where(col(Job.callback_url).is_not(None))
    if account_id is not None:
        newest = newest.where(col(Job.account_id) == account_id)
    if key := keyset.parsed(after):
        newest = newest.where(tuple_(col(Job.created_at), col(Job.id)) < tuple_(*key))
    jobs = newest.order_by(col(Job.created_at).desc(), col(Job.id).desc()).limit(SEARCHED_MAX).subquery()
    statement = select(Delivery, jobs.c.id, jobs.c.created_at).join(jobs, jobs.c.id == col(Delivery.job_id))
    if status is not None:
        statement = statement.where(col(Delivery.status) == status)
    newest_first = jobs.c.created_at.desc(), jobs.c.id.desc()
    return (await work.execute(statement.order_by(*newest_first).limit(WEBHOOKS_MAX + 1))).all()
