"""Keep the format of each render, whether its background is left out, and whether its sound is rendered.

The previous release can use this schema: its jobs are silent MP4s.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.add_column("jobs", sa.Column("format", sa.String(), nullable=False, server_default="mp4"))
    op.add_column("jobs", sa.Column("transparent", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("jobs", sa.Column("has_sound", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Undo."""
    op.drop_column("jobs", "has_sound")
    op.drop_column("jobs", "transparent")
    op.drop_column("jobs", "format")
