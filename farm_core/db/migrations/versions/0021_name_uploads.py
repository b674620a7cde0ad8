"""Keep the names of uploaded files, which pages show in place of addresses.

This only adds to the schema, so the previous release still works with it; its uploads have no name.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.add_column("assets", sa.Column("filename", sa.String(), nullable=True))


def downgrade() -> None:
    """Take the column away."""
    op.drop_column("assets", "filename")
