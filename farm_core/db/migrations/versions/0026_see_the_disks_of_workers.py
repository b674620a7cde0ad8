"""Record the free space for temporary files of each worker's machine.

This only adds to the schema, so the previous release still works with it; its schedulers leave the column as it is.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.add_column("workers", sa.Column("disk_free_bytes", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Take the column away."""
    op.drop_column("workers", "disk_free_bytes")
