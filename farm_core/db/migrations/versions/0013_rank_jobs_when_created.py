"""Keep the priority that an operator gives to an account's new jobs.

The previous release can use this schema: its jobs are created with priority 0.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("accounts", sa.Column("job_priority", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Undo."""
    op.drop_column("accounts", "job_priority")
