"""Keep the request that created each job, and the span of its trace.

The former release goes on working on this schema: its jobs have neither.
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


def downgrade() -> None:
    """Undo."""
    op.drop_column("jobs", "traceparent")
    op.drop_column("jobs", "request_id")
