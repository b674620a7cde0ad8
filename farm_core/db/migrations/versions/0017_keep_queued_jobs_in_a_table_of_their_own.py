"""Keep queued jobs and the leases of unplanned ones in tables of their own: a claim then changes no index of jobs.

A look for a lease no longer reads the index of all leased tasks, where statistics are old: both indexes have the same condition now.

The previous release can use this schema, but claims and adoptions of its schedulers read all jobs of an account: update a deep
queue's schedulers soon. Writers of jobs wait while it runs, longer the more jobs there are.
"""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_Index = tuple[str, tuple[str | sa.TextClause, ...], str]
_SQL = Path(__file__).resolve().parents[1] / "sql"
_NEWEST = (sa.text("created_at DESC"), sa.text("id DESC"))
_CANCELLED = "finished_at IS NOT NULL AND error IS NULL AND video_key IS NULL"
_PLACE = (
    "(date_part('epoch', created_at AT TIME ZONE 'UTC') + reserved_ms / 1000.0::double precision"
    " - 86400.0::double precision * priority)"
)
_NEW = (
    ("jobs_open", _NEWEST, "finished_at IS NULL"),
    ("jobs_open_of_account", ("account_id", *_NEWEST), "finished_at IS NULL"),
    ("jobs_failed", _NEWEST, "error IS NOT NULL"),
    ("jobs_failed_of_account", ("account_id", *_NEWEST), "error IS NOT NULL"),
    ("jobs_cancelled", _NEWEST, _CANCELLED),
    ("jobs_cancelled_of_account", ("account_id", *_NEWEST), _CANCELLED),
)
_SAME_PLAN = ("jobs_same_plan", ("account_id", "plan_key"), "video_key IS NOT NULL")
_FORMER = (
    ("jobs_waiting", ("created_at",), "status = 'queued'"),
    ("jobs_next", ("account_id", sa.text(_PLACE), "id"), "status = 'queued'"),
    ("jobs_not_completed", ("status", *_NEWEST), "status IN ('failed', 'cancelled')"),
    ("jobs_not_completed_of_account", ("account_id", "status", *_NEWEST), "status IN ('failed', 'cancelled')"),
    ("jobs_held", ("lease_expires_at",), "lease_expires_at IS NOT NULL"),
)
_FORMER_SAME_PLAN = ("jobs_same_plan", ("account_id", "plan_key"), "status = 'completed'")

_REPLACED = {
    "add_to_account_queues": "queues.sql",
    "count_new_jobs": "queues.sql",
    "count_gone_jobs": "queues.sql",
    "count_moved_jobs": "moved_jobs.sql",
    "count_moved_tasks": "spent_seconds.sql",
}
"""The functions that waiting_jobs.sql replaces, and the files with their former selves."""


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "waiting_jobs",
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("place", sa.Float(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "place", "job_id", postgresql_include=["created_at"]),
    )
    op.create_table(
        "held_jobs",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
        postgresql_with={"fillfactor": 50},
    )
    for table in ("waiting_jobs", "held_jobs"):
        op.execute(
            f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000)"
        )
    # Jobs that were created together are claimed together: their new versions need room in one page.
    op.execute("ALTER TABLE jobs SET (fillfactor = 50)")
    op.get_bind().exec_driver_sql((_SQL / "waiting_jobs.sql").read_text(encoding="utf-8"))
    _replace((*_FORMER, _FORMER_SAME_PLAN), (*_NEW, _SAME_PLAN))
    _index_leases("status = 'leased'")


def _replace(dropped: tuple[_Index, ...], made: tuple[_Index, ...]) -> None:
    for name, *_ in dropped:
        op.drop_index(name, table_name="jobs")
    for name, columns, condition in made:
        op.create_index(name, "jobs", list(columns), postgresql_where=sa.text(condition))


def _index_leases(condition: str) -> None:
    op.drop_index("tasks_lease", table_name="tasks")
    op.create_index("tasks_lease", "tasks", ["lease_token"], postgresql_where=sa.text(condition))


def downgrade() -> None:
    """Take the change back."""
    _index_leases("lease_token IS NOT NULL")
    _replace((*_NEW, _SAME_PLAN), (*_FORMER, _FORMER_SAME_PLAN))
    op.execute("ALTER TABLE jobs SET (fillfactor = 85)")
    op.execute("DROP TRIGGER jobs_truncated ON jobs")
    op.execute("DROP FUNCTION forget_jobs()")
    for name, file in _REPLACED.items():
        former = (_SQL / file).read_text(encoding="utf-8")
        found = re.search(
            rf"^CREATE (?:OR REPLACE )?(FUNCTION {name}\(.*?^END \$\$;)", former, re.MULTILINE | re.DOTALL
        )
        assert found is not None, f"{file} makes {name}"
        op.get_bind().exec_driver_sql(f"CREATE OR REPLACE {found[1]}")
    op.execute("DROP FUNCTION job_place(timestamptz, bigint, int)")
    op.drop_table("held_jobs")
    op.drop_table("waiting_jobs")
