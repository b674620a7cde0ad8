"""Gallery of templates, and page of a template."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy import Row, Select, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Reading, Work
from api.ids import checked_id, found
from api.templates.schemas import NAME_LENGTH_MAX, VERSION_MAX
from console import keyset, pictures
from console.charts import template_use
from console.library import history
from console.library.choice import one_line
from console.pages import page
from console.renders.listing import Filters, listing
from console.viewer import ChangerOf, Viewer, ViewerOf
from farm_core.accounts.models import Account
from farm_core.audit.log import record
from farm_core.errors import BadRequest, Conflict, NotFound
from farm_core.templates import repository
from farm_core.templates.models import Template

router = APIRouter(prefix="/templates")
PAGE_SIZE: Final = 24
USE_DAYS: Final = 30
TEXT_MAX: Final = 200
SEARCHED_MAX: Final = 5_000
"""Number of newest templates that a search by name or a sort by name covers."""
_LOWER: Final = func.lower(col(Template.name))
_BY_NAME: Final[tuple[Any, ...]] = (_LOWER, col(Template.id))


@router.get("")
async def gallery(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, after: str = "",
    text: Annotated[str, Query()] = "", order: Annotated[str, Query()] = "", deleted: Annotated[str, Query()] = "",
) -> Response:  # fmt: skip
    """Return the gallery, newest first or by name. Operators see all accounts' templates. `text` filters by name.

    `deleted` is a template that can be restored.
    """
    text, by_name = text.strip()[:TEXT_MAX].replace("\x00", ""), order == "name"
    inputs = func.jsonb_array_length(col(Template.inputs))
    statement = _visible(viewer).add_columns(inputs).options(repository.GALLERY)
    if text or by_name:
        statement = statement.where(col(Template.id).in_(_named(viewer, text)))
    if by_name:
        statement = _after_name(statement.add_columns(_LOWER), after).order_by(*_BY_NAME)
    else:
        if key := keyset.parsed(after):
            statement = statement.where(tuple_(col(Template.created_at), col(Template.id)) < tuple_(*key))
        statement = statement.order_by(*repository.ORDER)
    rows = (await work.execute(statement.limit(PAGE_SIZE + 1))).all()
    shown = [row[:3] for row in rows[:PAGE_SIZE]]
    following = None
    if len(rows) > PAGE_SIZE:
        last = rows[PAGE_SIZE - 1]
        following = f"{last[3]}~{last[0].id}" if by_name else keyset.key_of(last[0])
    filters = {"text": text, "order": "name" if by_name else ""}
    values: dict[str, Any] = {
        "rows": shown, "following": following, "after": after, "filters": filters, "undelete_time": repository.UNDELETE_TIME,
        "deleted": await _deleted(work, viewer, deleted.replace("\x00", ""), state.clock.now()) if deleted else None,
    }  # fmt: skip
    return page(request, "library/gallery.html", title="Templates", **values)


@router.get("/{template_id}")
async def template_page(
    request: Request, viewer: ViewerOf, state: AppStateOf, work: Reading, template_id: str
) -> Response:
    """Return the page of a template: inputs, size, warnings, usage over time, newest renders."""
    row, account = await visible(work, viewer, template_id)
    now = state.clock.now()
    newest = await listing(work, viewer.account_id, Filters(template=row.id), now)
    use = await template_use(work, row.id, now, USE_DAYS)
    former = await history.former_versions(work, row)
    values: dict[str, Any] = {
        "former": former, "template": row, "account": account, "listing": newest, "use": use, "title": row.name,
        "progress": await state.progress.percents(newest.rows), "filters": Filters(template=row.id),
    }  # fmt: skip
    return page(request, "library/one.html", **values)


@router.post("/{template_id}/name")
async def rename(
    viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str, name: Annotated[str, Form()] = "",
    shown: Annotated[str | None, Form()] = None,
) -> Response:  # fmt: skip
    """Rename a template, unless it has another name than `shown` by now."""
    row, account = await visible(work, viewer, template_id)
    former, wanted = row.name, one_line(name, "name", NAME_LENGTH_MAX)
    if not wanted:
        raise BadRequest("A template needs a name.")
    if shown is not None and " ".join(shown.split()) != " ".join(former.split()):
        raise Conflict(f"This template was renamed to “{former}” while you had its page open.")
    row.name, row.updated_at = wanted, state.clock.now()
    detail = {"name": wanted, "former": former, "account": account.name}
    await record(work, viewer.actor, "rename template", f"template {row.id}", detail)
    return RedirectResponse(f"/console/templates/{row.id}", 303)


@router.post("/{template_id}/delete")
async def delete(viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str) -> Response:
    """Delete a template. Accepted renders of it continue."""
    row, account = await visible(work, viewer, template_id)
    await repository.delete(work, account.id, row.id, state.clock.now())
    await record(
        work, viewer.actor, "delete template", f"template {row.id}", {"name": row.name, "account": account.name}
    )
    return RedirectResponse(f"/console/templates?deleted={row.id}", 303)


@router.post("/{template_id}/undelete")
async def undelete(viewer: ChangerOf, state: AppStateOf, work: Work, template_id: str) -> Response:
    """Restore a template that was deleted a short time ago."""
    now = state.clock.now()
    row, account = found(await _deleted(work, viewer, checked_id(template_id, "template"), now), "template")
    if not await repository.undelete(work, account.id, row.id, now):
        raise NotFound("This template can no longer be restored.")
    await record(
        work, viewer.actor, "undelete template", f"template {row.id}", {"name": row.name, "account": account.name}
    )
    return RedirectResponse(f"/console/templates/{row.id}", 303)


@router.get("/{template_id}/poster.jpg")
async def poster(
    request: Request,
    viewer: ViewerOf,
    state: AppStateOf,
    template_id: str,
    version: Annotated[int | None, Query(ge=1, le=VERSION_MAX)] = None,
) -> Response:
    """Return the picture of the template, or of a former version while it is kept."""
    async with state.database.reading() as work:  # released before the wait for a worker
        row, _ = await visible(work, viewer, template_id)
        row = row if version is None else await repository.version_of(work, row, version)
    return await pictures.of_gallery(request, state, row)


@router.get("/{template_id}/draft.jpg")
async def draft(request: Request, viewer: ViewerOf, state: AppStateOf, template_id: str) -> Response:
    """Return a contact sheet of the template, which the page plays on hover."""
    async with state.database.reading() as work:  # released before the wait for a worker
        row, _ = await visible(work, viewer, template_id)
    return await pictures.draft_of(request, state, row)


async def visible(session: AsyncSession, viewer: Viewer, template_id: str) -> tuple[Template, Account]:
    """Return the template and its account. Raises NotFound if the viewer may not see it."""
    statement = _visible(viewer).where(col(Template.id) == checked_id(template_id, "template"))
    row = found((await session.execute(statement)).first(), "template")
    return row[0], row[1]


def _after_name(statement: Select[Any], after: str) -> Select[Any]:
    """Return the templates after the key `<lower-case name>~<id>`, in order of name."""
    name, _, template_id = after.replace("\x00", "").rpartition("~")
    return statement.where(tuple_(*_BY_NAME) > tuple_(name, template_id)) if template_id else statement


def _named(viewer: Viewer, text: str) -> Select[str]:
    """Return the ids of the newest SEARCHED_MAX templates whose names contain the text."""
    newest = _visible(viewer).with_only_columns(col(Template.id), col(Template.name))
    searched = newest.order_by(*repository.ORDER).limit(SEARCHED_MAX).subquery()
    return select(searched.c.id).where(searched.c.name.icontains(text, autoescape=True))


async def _deleted(
    session: AsyncSession, viewer: Viewer, template_id: str, now: datetime
) -> Row[Template, Account] | None:
    """Return the template and its account if it is deleted and the viewer may restore it."""
    return (await session.execute(_of_viewer(viewer).where(repository.deleted(template_id, now)))).first()


def _visible(viewer: Viewer) -> Select[Template, Account]:
    return _of_viewer(viewer).where(col(Template.deleted_at).is_(None))


def _of_viewer(viewer: Viewer) -> Select[Template, Account]:
    joined = select(Template, Account).join(Account, col(Account.id) == col(Template.account_id))
    return joined if viewer.operator else joined.where(col(Template.account_id) == viewer.account.id)
