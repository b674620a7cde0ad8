"""Index the jobs that schedulers hold: they looked for orphans among all jobs of the history, twice a second.

The documents of templates are indexed too: a pass over stored objects read all templates for each object.

This only adds to the schema, so the previous release still works with it. Writers of jobs wait while their index is built, longer the more
jobs there are.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    is_held = sa.text("lease_expires_at IS NOT NULL")
    op.create_index("jobs_held", "jobs", ["lease_expires_at"], postgresql_where=is_held)
    op.create_index("templates_document", "templates", ["document_key"])


def downgrade() -> None:
    """Take the indexes away."""
    op.drop_index("templates_document", table_name="templates")
    op.drop_index("jobs_held", table_name="jobs")
