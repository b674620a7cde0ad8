"""Sign people in to the console, count renders by minute, and index lists of renders."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NEWEST: tuple[Any, ...] = (sa.literal_column("created_at DESC"), sa.literal_column("id DESC"))
_INDEXES: dict[str, tuple[Any, ...]] = {
    "jobs_newest": _NEWEST,
    "jobs_newest_of_template": ("template_id", *_NEWEST),
}
_PARTIAL: dict[str, tuple[Any, ...]] = {
    "jobs_not_completed": ("status", *_NEWEST),
    "jobs_not_completed_of_account": ("account_id", "status", *_NEWEST),
}


def upgrade() -> None:
    """Apply the change."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "sign_in_links",
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.Column("used_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index(op.f("ix_sign_in_links_account_id"), "sign_in_links", ["account_id"])
    op.create_table(
        "console_sessions",
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("acting_as", sa.String(), nullable=True),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.ForeignKeyConstraint(["acting_as"], ["accounts.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    for column in ("account_id", "acting_as", "expires_at"):
        op.create_index(op.f(f"ix_console_sessions_{column}"), "console_sessions", [column])
    op.create_table(
        "job_minutes",
        sa.Column("minute", moment, nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)
            for name in ("completed", "failed", "cancelled", "frames", "video_ms")
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("minute", "account_id"),
    )
    op.create_index(op.f("ix_job_minutes_account_id"), "job_minutes", ["account_id"])
    op.create_table(
        "job_roll_up",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("until", moment, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute("INSERT INTO job_roll_up (id, until) VALUES (1, '2000-01-01 00:00:00+00')")
    for name, columns in _INDEXES.items():
        op.create_index(name, "jobs", list(columns))
    for name, columns in _PARTIAL.items():
        partly = sa.text("status IN ('failed', 'cancelled')")
        op.create_index(name, "jobs", list(columns), postgresql_where=partly)


def downgrade() -> None:
    """Take the change back."""
    for name in (*_PARTIAL, *_INDEXES):
        op.drop_index(name, table_name="jobs")
    for table in ("job_roll_up", "job_minutes", "console_sessions", "sign_in_links"):
        op.drop_table(table)
