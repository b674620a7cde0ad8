"""Rows used by many tests."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from farm_core.accounts.models import Account
from farm_core.ids import new_id
from farm_core.jobs.models import Job
from farm_core.templates.models import Template


async def account(session: AsyncSession, name: str = "ada") -> Account:
    row = Account(id=new_id("acc"), name=name)
    session.add(row)
    await session.flush()
    return row


async def template(session: AsyncSession, owner: Account) -> Template:
    row = Template(
        id=new_id("tpl"), account_id=owner.id, name="Card", width=640, height=360, fps=30, duration_seconds=3,
        inputs=[], targets={}, document_key="documents/none",
    )  # fmt: skip
    session.add(row)
    await session.flush()
    return row


def job(of: Template, **columns: Any) -> Job:
    values: dict[str, Any] = {
        "id": new_id("job"), "account_id": of.account_id, "template_id": of.id, "inputs": {}, "width": 640,
        "height": 360, "fps": 30, "frame_count": 90, "reserved_ms": 3000, "request_hash": "hash",
        "origin": "http://farm.example",
    }  # fmt: skip
    return Job(**values | columns)
