"""Let rows of slow_frames name accounts with slow frames instead of restarts.

The previous release can use this schema: it does not know the table.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.drop_column("slow_frames", "is_proven")
    op.drop_column("slow_frames", "frees")


def downgrade() -> None:
    """Take the change back."""
    for name in ("is_proven", "frees"):
        op.add_column("slow_frames", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
        op.alter_column("slow_frames", name, server_default=None)
