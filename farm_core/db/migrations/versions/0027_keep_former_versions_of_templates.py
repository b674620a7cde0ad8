"""Keep former versions of replaced templates for the renders that were created before.

This only adds to the schema, so the previous release still works with it. Its schedulers freeze waiting renders with
the newest version: replace no template while processes of both releases run.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    for table, column in (("templates", "version"), ("jobs", "template_version")):
        op.add_column(table, sa.Column(column, sa.Integer(), server_default="1", nullable=False))
    op.create_table(
        "template_versions",
        sa.Column("template_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("inputs", postgresql.JSONB(), nullable=False),
        sa.Column("targets", postgresql.JSONB(), nullable=False),
        sa.Column("composition_id", sa.String(), nullable=True),
        sa.Column("duration_seconds", sa.Float(), nullable=False),
        sa.Column("document_key", sa.String(), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["template_id"], ["templates.id"]),
        sa.PrimaryKeyConstraint("template_id", "version"),
    )
    op.create_index("ix_template_versions_account_id", "template_versions", ["account_id"])
    op.create_index("template_versions_document", "template_versions", ["document_key"])


def downgrade() -> None:
    """Take the change back. Renders that wait for a former version get the newest one."""
    op.drop_table("template_versions")
    op.drop_column("jobs", "template_version")
    op.drop_column("templates", "version")
