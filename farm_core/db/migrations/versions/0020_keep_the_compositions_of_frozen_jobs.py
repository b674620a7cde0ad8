"""Keep what a lease needs of the template in the job whose document was frozen from it: a lease looked up each job's template.

This only adds to the schema, so the previous release still works with it, and leases look up the templates of jobs that it freezes.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.add_column("jobs", sa.Column("composition_id", sa.String(), nullable=True))
    op.add_column("jobs", sa.Column("composition_seconds", sa.Float(), nullable=True))


def downgrade() -> None:
    """Take the columns away."""
    op.drop_column("jobs", "composition_seconds")
    op.drop_column("jobs", "composition_id")
