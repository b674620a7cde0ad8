"""Count the preparations of a job that failed apart from the schedulers that died with it.

This only adds to the schema, so the previous release still works with it; its schedulers count both as attempts.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.add_column("jobs", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Take the column away."""
    op.drop_column("jobs", "failures")
