"""Count claimed jobs with less work: the trigger looked for their rows in open_jobs, which they do not have yet.

Only a function changes, and it counts the same: the previous release can use this schema.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_COUNTS = Path(__file__).resolve().parents[1] / "sql" / "moved_jobs.sql"


def upgrade() -> None:
    """Apply the change."""
    op.get_bind().exec_driver_sql(_COUNTS.read_text(encoding="utf-8"))


def downgrade() -> None:
    """Keep the function: it counts the same as before."""
