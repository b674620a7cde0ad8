"""Write fewer indexes when tasks are leased and finished, and count them with less work.

Only indexes and a function change: the previous release can use this schema. Writers of tasks wait while the indexes are
built, longer the more tasks there are.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_COUNTS = Path(__file__).resolve().parents[1] / "sql" / "task_counts.sql"


def upgrade() -> None:
    """Apply the change."""
    op.create_index("tasks_lease", "tasks", ["lease_token"], postgresql_where=sa.text("lease_token IS NOT NULL"))
    op.create_index("tasks_of_worker", "tasks", ["worker"], postgresql_where=sa.text("status = 'leased'"))
    op.drop_index(op.f("ix_tasks_lease_token"), table_name="tasks")
    op.drop_index("tasks_open", table_name="tasks")
    op.drop_index(op.f("ix_tasks_job_id"), table_name="tasks")  # one_task_per_index begins with the same column
    op.get_bind().exec_driver_sql(_COUNTS.read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take the indexes back. The function counts the same as before, so it stays."""
    op.create_index(op.f("ix_tasks_job_id"), "tasks", ["job_id"])
    op.create_index("tasks_open", "tasks", ["status"], postgresql_where=sa.text("status IN ('pending', 'leased')"))
    op.create_index(op.f("ix_tasks_lease_token"), "tasks", ["lease_token"])
    op.drop_index("tasks_of_worker", table_name="tasks")
    op.drop_index("tasks_lease", table_name="tasks")
