"""Keep the request that created each job, and the span of its trace. Record which former releases can use the schema.

The previous release can use this schema: its jobs have neither request nor span.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("jobs", sa.Column("request_id", sa.String(), nullable=True))
    op.add_column("jobs", sa.Column("traceparent", sa.String(), nullable=True))
    state = op.create_table(
        "schema_state",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("oldest_head", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_schema_state_one_row"),
    )
    op.bulk_insert(state, [{"id": 1, "oldest_head": "0010"}])


def downgrade() -> None:
    """Undo."""
    op.drop_table("schema_state")
    op.drop_column("jobs", "traceparent")
    op.drop_column("jobs", "request_id")
