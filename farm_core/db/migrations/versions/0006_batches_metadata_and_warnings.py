"""Batches of renders, callers' metadata, and what a video leaves out.

This only adds to the schema, so the previous release still works with it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "batches",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("account_id", sa.String(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("template_id", sa.String(), sa.ForeignKey("templates.id"), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("request_hash", sa.String(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused", postgresql.JSONB(), nullable=False),
    )
    op.create_index(
        "one_batch_per_key", "batches", ["account_id", "idempotency_key"], unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )  # fmt: skip
    op.create_index("batches_newest_first", "batches", ["account_id", sa.text("created_at DESC"), sa.text("id DESC")])
    op.add_column("jobs", sa.Column("batch_id", sa.String(), sa.ForeignKey("batches.id"), nullable=True))
    op.add_column("jobs", sa.Column("batch_index", sa.Integer(), nullable=True))
    op.create_index(
        "jobs_of_batch", "jobs", ["batch_id", "batch_index"], unique=True,
        postgresql_where=sa.text("batch_id IS NOT NULL"),
    )  # fmt: skip
    op.add_column("jobs", sa.Column("metadata", postgresql.JSONB(), nullable=True))
    op.add_column("jobs", sa.Column("warnings", postgresql.JSONB(), nullable=True))
    op.add_column("segments", sa.Column("warnings", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    """Undo."""
    op.drop_column("segments", "warnings")
    op.drop_column("jobs", "warnings")
    op.drop_column("jobs", "metadata")
    op.drop_column("jobs", "batch_index")
    op.drop_column("jobs", "batch_id")
    op.drop_table("batches")
