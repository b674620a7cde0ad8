"""Keep the data of presets as sent: the JSON type keeps the order of names, JSONB does not.

The previous release can use this schema. Writers of presets wait while it runs.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the column's type."""
    op.alter_column(
        "presets", "animation_data", type_=sa.JSON(), existing_type=postgresql.JSONB(), existing_nullable=False,
        postgresql_using="animation_data::json",
    )  # fmt: skip


def downgrade() -> None:
    """Change it back."""
    op.alter_column(
        "presets", "animation_data", type_=postgresql.JSONB(), existing_type=sa.JSON(), existing_nullable=False,
        postgresql_using="animation_data::jsonb",
    )  # fmt: skip
