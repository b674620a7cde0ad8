"""Keep the size of former versions of templates, and mark those that the account can restore.

This only adds to the schema, so the previous release still works with it. The versions that it writes, and those from
before, serve waiting renders only.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    for name in ("width", "height", "fps"):
        op.add_column("template_versions", sa.Column(name, sa.Float(), nullable=True))
    op.add_column("template_versions", sa.Column("restorable", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    """Take the columns away."""
    for name in ("restorable", "fps", "height", "width"):
        op.drop_column("template_versions", name)
