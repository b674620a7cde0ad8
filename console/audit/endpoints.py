"""Audit log, for operators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.dependencies import Reading
from console.pages import page
from console.viewer import OperatorOf
from farm_core.audit import log

router = APIRouter(prefix="/audit")
PAGE_SIZE = 100


@router.get("")
async def audit_page(
    request: Request, viewer: OperatorOf, work: Reading, before: int | None = None, who: str = "", action: str = "",
    target: str = "",
) -> Response:  # fmt: skip
    """Return the entries of the audit log, newest first."""
    entries = await log.page(
        work, limit=PAGE_SIZE + 1, before=before, who=who or None, action=action or None, target=target or None
    )
    following = entries[PAGE_SIZE - 1].id if len(entries) > PAGE_SIZE else None
    values: dict[str, Any] = {
        "entries": entries[:PAGE_SIZE],
        "following": following,
        "who": who,
        "action": action,
        "target": target,
    }
    return page(request, "audit/audit.html", title="Audit log", **values)
