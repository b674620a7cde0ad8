"""Find leases of tasks by the id of the task, which their tokens end with, and drop the index of tokens.

The previous release can use this schema: it then reads all running tasks to find a lease.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.drop_index("tasks_lease", table_name="tasks")


def downgrade() -> None:
    """Take the change back."""
    op.create_index("tasks_lease", "tasks", ["lease_token"], postgresql_where=sa.text("status = 'leased'"))
