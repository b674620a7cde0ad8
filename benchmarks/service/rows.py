"""Accounts, templates and queued jobs, written straight into the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import psycopg

_ACCOUNTS: Final = (
    "INSERT INTO accounts (id, name, plan, created_at) SELECT id, id, %s, now() FROM unnest(%s::text[]) AS id"
)
_TEMPLATES: Final = (
    "INSERT INTO templates (id, account_id, name, width, height, fps, duration_seconds, inputs, targets, document_key, created_at,"
    " updated_at) SELECT 'tpl_' || id, id, 't', 1280, 720, 30, 3, '[]', '{}', 'documents/none', now(), now() FROM unnest(%s::text[]) AS id"
)
_JOBS: Final = (
    "INSERT INTO jobs (id, account_id, template_id, status, progress, inputs, width, height, fps, frame_count, reserved_ms, origin,"
    " request_hash, attempt, created_at, document_key) SELECT id, account_id, 'tpl_' || account_id, 'queued', 0, '{}', 1280, 720,"
    " 30, %s, 3000, 'http://farm', '', 0, %s, 'frozen/' || id FROM unnest(%s::text[], %s::text[]) AS wanted(id, account_id)"
)


def create_accounts(connection: psycopg.Connection[Any], ids: Sequence[str], plan: str) -> None:
    """Create accounts, each with a template `tpl_ID`."""
    connection.execute(_ACCOUNTS, (plan, list(ids)))
    connection.execute(_TEMPLATES, (list(ids),))


def create_jobs(
    connection: psycopg.Connection[Any], accounts: Mapping[str, str], created_at: datetime, *, frames: int
) -> None:
    """Queue a job for each id of `accounts`, which has its account. The documents are frozen already, so that nothing is ingested."""
    connection.execute(_JOBS, (frames, created_at, list(accounts), list(accounts.values())))
