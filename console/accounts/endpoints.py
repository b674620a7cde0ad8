"""Accounts, for operators: list, create, change, pause, suspend, delete, impersonate."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Request
from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Reading, Work
from api.ids import checked_id, found
from console.errors import ActionRefused
from console.pages import page
from console.viewer import CommanderOf, OperatorOf, ViewerOf, check_csrf
from farm_core.accounts import repository as accounts
from farm_core.accounts.models import NAME_LENGTH_MAX, Account, is_account_name
from farm_core.accounts.plans import DEFAULT_PLAN, NAMES, PLANS, BadLimit, limits_of, set_limit
from farm_core.audit.log import record
from farm_core.controls import accounts as controls
from farm_core.controls import deletion, queues
from farm_core.db.queue_models import AccountQueue
from farm_core.errors import BadRequest, Conflict
from farm_core.ids import new_id
from farm_core.sign_in import repository as sign_in
from farm_core.usage import repository as usage
from farm_core.usage.models import Usage
from farm_core.usage.period import period_of

router = APIRouter(prefix="/accounts")
PAGE_SIZE: Final = 50
LIMIT_WORDS: Final = {
    "apiEnabled": "API access, true or false", "monthlyRenderMinutes": "Render minutes a month",
    "monthlyApiRequests": "API requests a month", "maxActiveApiKeys": "API keys",
    "maxUploadBytes": "Largest upload, in bytes", "maxStorageBytes": "Storage, in bytes",
}  # fmt: skip
"""Labels of limits, by their names in the usage record."""
Order = Literal["name", "queued", "minutes", "storage"]
_ORDERS: Final[dict[str, Any]] = {
    "queued": col(AccountQueue.queued), "minutes": col(Usage.rendered_ms), "storage": col(AccountQueue.stored_bytes)
}  # fmt: skip


@router.get("")
async def accounts_page(
    request: Request,
    viewer: OperatorOf,
    state: AppStateOf,
    work: Reading,
    after: str = "",
    text: str = "",
    order: Order = "name",
) -> Response:
    """Return the accounts by name, with queues and this month's usage, or the first page of those that queue or use most."""
    month = and_(col(Usage.account_id) == col(Account.id), col(Usage.period) == period_of(state.clock.now()))
    queue = col(AccountQueue.account_id) == col(Account.id)
    statement = select(Account, AccountQueue, Usage).outerjoin(AccountQueue, queue).outerjoin(Usage, month)
    if after and order == "name":
        statement = statement.where(col(Account.name) > after)
    if text:
        statement = statement.where(col(Account.name).icontains(text, autoescape=True))
    if order != "name":
        statement = statement.order_by(_ORDERS[order].desc().nulls_last())
    rows = (await work.execute(statement.order_by(col(Account.name)).limit(PAGE_SIZE + 1))).all()
    following = rows[PAGE_SIZE - 1][0].name if len(rows) > PAGE_SIZE and order == "name" else None
    values: dict[str, Any] = {
        "rows": rows[:PAGE_SIZE],
        "following": following,
        "is_cut": len(rows) > PAGE_SIZE and following is None,
        "text": text,
        "order": order,
        "plans": sorted(PLANS),
        "title": "Accounts",
    }
    return page(request, "accounts/accounts.html", **values)


@router.post("")
async def create(
    viewer: CommanderOf, work: Work, name: Annotated[str, Form()] = "", plan: Annotated[str, Form()] = DEFAULT_PLAN
) -> Response:
    """Create an account."""
    name = name.strip()
    if not is_account_name(name):
        raise BadRequest(f"A name has 1 to {NAME_LENGTH_MAX} printable characters.")
    if plan not in PLANS:
        raise BadRequest("There is no such plan.")
    if await accounts.account_named(work, name):
        raise Conflict(f"There is an account named {name} already.")
    account = Account(id=new_id("acc"), name=name, plan=plan)
    work.add(account)
    await record(work, viewer.actor, "create account", f"account {account.id}", {"name": name, "plan": plan})
    return RedirectResponse(f"/console/accounts/{account.id}", 303)


@router.post("/return")
async def return_to_own(viewer: ViewerOf, work: Work, csrf: Annotated[str, Form()] = "") -> Response:
    """Return from the account that the operator acts as to their own account."""
    check_csrf(viewer, csrf)
    await sign_in.act_as(work, viewer.token, None)
    if viewer.acting:
        await record(
            work, viewer.actor, "return from account", f"account {viewer.account.id}", {"name": viewer.account.name}
        )
    return RedirectResponse("/console/", 303)


@router.get("/{account_id}")
async def account_page(
    request: Request, viewer: OperatorOf, state: AppStateOf, work: Reading, account_id: str
) -> Response:
    """Return the page of an account: plan, limits, usage and actions."""
    account = await _account(work, account_id)
    now = state.clock.now()
    values: dict[str, Any] = {
        "account": account, "limits": limits_of(account), "plans": sorted(PLANS), "names": NAMES, "limit_words": LIMIT_WORDS, "fault": None,
        "queue": await work.get(AccountQueue, account.id), "used": await usage.of_month(work, account.id, now),
        "minutes": await usage.minutes(work, account.id, now), "title": account.name,
    }  # fmt: skip
    return page(request, "accounts/one.html", **values)


@router.post("/{account_id}/limits")
async def change_limits(request: Request, viewer: CommanderOf, work: Work, account_id: str) -> Response:
    """Change plan and limits. An empty field restores the plan's value. `unlimited` removes the limit."""
    account, form = await _locked(work, account_id), await request.form()
    plan = str(form.get("plan") or account.plan)
    if plan not in PLANS:
        raise BadRequest("There is no such plan.")
    account.plan = plan
    try:
        for name in NAMES:
            set_limit(account, f"{name}={str(form.get(name) or '').strip() or 'plan'}")
    except BadLimit as error:
        raise BadRequest(str(error)) from None
    limits = {name: getattr(limits_of(account), field) for name, field in NAMES.items()}
    await record(
        work,
        viewer.actor,
        "set limits",
        f"account {account.id}",
        {"name": account.name, "plan": plan, "limits": limits},
    )
    return RedirectResponse(f"/console/accounts/{account.id}", 303)


@router.post("/{account_id}/priority")
async def change_priority(
    viewer: CommanderOf, work: Work, account_id: str, priority: Annotated[int, Form()] = 0
) -> Response:
    """Change the account's priority, which is its share of the farm."""
    account = await controls.set_account_priority(work, viewer.actor, checked_id(account_id, "account"), priority)
    return RedirectResponse(f"/console/accounts/{account.id}", 303)


@router.post("/{account_id}/act/{action}")
async def act(viewer: CommanderOf, work: Work, account_id: str, action: str) -> Response:
    """Pause, resume, suspend or unsuspend the account, or grant or revoke operator rights."""
    account_id = checked_id(account_id, "account")
    if account_id == viewer.account.id and action in ("suspend", "make-ordinary"):
        raise ActionRefused("You cannot do this to your own account; ask another operator.")
    simple = {
        "pause": queues.pause_account, "resume": queues.resume_account, "suspend": controls.suspend,
        "unsuspend": controls.unsuspend,
    }  # fmt: skip
    if action in ("make-operator", "make-ordinary"):
        await controls.set_operator(work, viewer.actor, account_id, operator=action == "make-operator")
    else:
        await found(simple.get(action), "action")(work, viewer.actor, account_id)
    return RedirectResponse(f"/console/accounts/{account_id}", 303)


@router.post("/{account_id}/sign-in-as")
async def sign_in_as(viewer: CommanderOf, work: Work, account_id: str) -> Response:
    """Act as the account until the operator chooses *Return*."""
    account = await _account(work, account_id)
    await sign_in.act_as(work, viewer.token, account.id)
    await record(work, viewer.actor, "sign in as", f"account {account.id}", {"name": account.name})
    return RedirectResponse("/console/", 303)


@router.get("/{account_id}/delete")
async def confirm_deletion(request: Request, viewer: OperatorOf, work: Work, account_id: str) -> Response:
    """Show the data that would be deleted with the account. Ask for the account's name."""
    account = await _account(work, account_id)
    contents = await deletion.contents(work, account.id)
    return page(request, "accounts/delete.html", account=account, contents=contents, title=f"Delete {account.name}")


@router.post("/{account_id}/delete")
async def delete(
    request: Request, viewer: CommanderOf, state: AppStateOf, account_id: str, name: Annotated[str, Form()] = ""
) -> Response:
    """Delete the account and all its data."""
    async with state.database.reading() as session:
        account = await _account(session, account_id)
    if account.id == viewer.account.id:
        raise ActionRefused("You cannot delete your own account.")
    if name.strip() != account.name:
        raise BadRequest(f"To delete the account, enter its name exactly: {account.name}")
    report = await deletion.delete_account(state.database, state.storage, viewer.actor, account.id)
    return page(request, "accounts/deleted.html", report=report, title="Account deleted")


async def _account(work: AsyncSession, account_id: str) -> Account:
    return found(await accounts.account(work, checked_id(account_id, "account")), "account")


async def _locked(work: AsyncSession, account_id: str) -> Account:
    return await controls.locked(work, checked_id(account_id, "account"))
