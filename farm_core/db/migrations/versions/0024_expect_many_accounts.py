"""Expect jobs to be of many accounts, whatever a sample of them says: lists of small accounts use the indexes of accounts.

The previous release can use this schema. ANALYZE reads a sample: a second on a million jobs.
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("ALTER TABLE jobs ALTER COLUMN account_id SET (n_distinct = 1000)")
    op.execute("ANALYZE jobs (account_id)")


def downgrade() -> None:
    """Take the change back."""
    op.execute("ALTER TABLE jobs ALTER COLUMN account_id RESET (n_distinct)")
    op.execute("ANALYZE jobs (account_id)")
