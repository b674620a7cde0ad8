"""Leave room in the indexes of tasks: a lease and a result each write a new version of a task into both, soon after the task is made.

Without room Postgres first looks for entries of dead versions to delete, at nearly each write. Only pages that are written from now on
have the room; the previous release can use this schema.
"""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_INDEXES = ("tasks_pkey", "one_task_per_index")


def upgrade() -> None:
    """Apply the change."""
    for name in _INDEXES:
        op.execute(f"ALTER INDEX {name} SET (fillfactor = 60)")


def downgrade() -> None:
    """Take the change back."""
    for name in _INDEXES:
        op.execute(f"ALTER INDEX {name} RESET (fillfactor)")
