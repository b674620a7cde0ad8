"""The signed-in person and their rights."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request

from api.app_state import AppState, app_state_of
from api.auth import CONSOLE_COOKIE, Caller
from api.middleware.bodies import UPLOAD_PATHS
from console.errors import ActionRefused, EarlierSession, SignInNeeded
from farm_core.accounts.keys import hash_of
from farm_core.accounts.models import Account
from farm_core.accounts.plans import limits_of
from farm_core.audit.log import Actor, Role
from farm_core.db.shares import HOLDER, Holder
from farm_core.errors import NotFound, RateLimited
from farm_core.sign_in import repository

CHANGES_NOTHING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Viewer:
    """Signed-in person. `account` is the account that pages show. `owner` differs while an operator acts as `account`."""

    account: Account
    owner: Account
    read_only: bool
    token: str

    @property
    def operator(self) -> bool:
        """Return True if the viewer is an operator who sees the whole farm."""
        return self.owner.operator and not self.acting

    @property
    def acting(self) -> bool:
        """Return True while an operator acts as another account."""
        return self.account.id != self.owner.id

    @property
    def account_id(self) -> str | None:
        """Return the account that lists are limited to, or None for an operator, who sees all."""
        return None if self.operator else self.account.id

    @property
    def actor(self) -> Actor:
        """Return the actor for the audit log."""
        return Actor(self.owner.name, Role.operator if self.owner.operator else Role.account)

    @property
    def caller(self) -> Caller:
        """Return the caller for the API's services."""
        return Caller(self.account, limits_of(self.account))

    @property
    def csrf(self) -> str:
        """Return the CSRF token of the session, which every change must contain."""
        return hmac.digest(self.token.encode(), b"csrf", hashlib.sha256).hex()

    @property
    def role(self) -> str:
        """Return the role as text."""
        kind = "operator" if self.operator else "account"
        return f"read-only {kind}" if self.read_only else kind


async def signed_in(request: Request) -> Viewer:
    """Return the signed-in person. Raises SignInNeeded. Refuse changes without the session's CSRF token."""
    state, token = app_state_of(request), request.cookies.get(CONSOLE_COOKIE, "")
    digest = hash_of(token)
    HOLDER.set(state.credential_accounts.holder(digest))
    viewer = await _viewer_of(state, token)
    if viewer is None:
        raise SignInNeeded
    HOLDER.set(Holder(viewer.account.id))
    state.credential_accounts.learn(digest, viewer.account.id)
    request.state.viewer = viewer
    return viewer


async def may_still_see(state: AppState, viewer: Viewer) -> bool:
    """Return True if the session is valid and may see the same renders.

    Also return True if the check is not possible: without Postgres, or while the account's connections are all in use.
    """
    try:
        current = await _viewer_of(state, viewer.token)
    except (RateLimited, SQLAlchemyError, OSError):
        return True
    return current is not None and current.account_id == viewer.account_id


async def _viewer_of(state: AppState, token: str) -> Viewer | None:
    if not token:
        return None
    async with state.database.reading() as session:
        found = await repository.signed_in(session, token, state.clock.now())
    if found is None or found.owner.suspended_at is not None:
        return None
    if found.account is not found.owner and not found.owner.operator:
        return None
    return Viewer(found.account, found.owner, found.read_only, token)


async def changing(request: Request, viewer: Annotated[Viewer, Depends(signed_in)]) -> Viewer:
    """Return the signed-in person if they may make changes and the request has the session's CSRF token."""
    if not UPLOAD_PATHS.fullmatch(request.url.path):  # these endpoints call `check_upload` themselves
        is_multipart = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
        form = {} if is_multipart else await request.form()
        check_csrf(viewer, request.headers.get("x-csrf-token") or str(form.get("csrf", "")))
    if viewer.read_only:
        raise ActionRefused("You are signed in read-only, so nothing can be changed.")
    return viewer


def check_upload(viewer: Viewer, request: Request, fields: Mapping[str, str]) -> None:
    """Raise ActionRefused for an upload without the session's CSRF token in a header or a form field."""
    check_csrf(viewer, request.headers.get("x-csrf-token") or fields.get("csrf", ""))


def check_csrf(viewer: Viewer, given: str) -> None:
    """Raise EarlierSession unless `given` is the session's CSRF token."""
    if not hmac.compare_digest(viewer.csrf.encode(), given.encode()):
        raise EarlierSession(
            f"You have signed in as {viewer.account.name} since this page was opened. Nothing was changed."
            " Reload the page and try again, or sign in as before."
        )


async def operating(viewer: Annotated[Viewer, Depends(signed_in)]) -> Viewer:
    """Return the signed-in operator. Raises NotFound for others."""
    if not viewer.operator:
        raise NotFound("There is no such page.")
    return viewer


async def commanding(viewer: Annotated[Viewer, Depends(changing)]) -> Viewer:
    """Return the signed-in operator if they may make changes."""
    return await operating(viewer)


ViewerOf = Annotated[Viewer, Depends(signed_in)]
ChangerOf = Annotated[Viewer, Depends(changing)]
OperatorOf = Annotated[Viewer, Depends(operating)]
CommanderOf = Annotated[Viewer, Depends(commanding)]
