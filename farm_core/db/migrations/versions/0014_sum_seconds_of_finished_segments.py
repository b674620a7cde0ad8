"""Keep the seconds that a job's finished segments took: a lease read all of them, so long jobs cost more with every segment.

This only adds to the schema, so the previous release still works with it, and the triggers keep the sum for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_SQL = Path(__file__).resolve().parents[1] / "sql"
_ARRAYS = "text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[]"


def upgrade() -> None:
    """Apply the change."""
    op.add_column("open_jobs", sa.Column("spent_seconds", sa.Float(), nullable=False, server_default="0"))
    op.get_bind().exec_driver_sql(_read("spent_seconds.sql"))


def downgrade() -> None:
    """Take the column away, and the former functions back."""
    op.execute(f"DROP FUNCTION add_to_open_jobs({_ARRAYS}, double precision[])")
    former = re.search(r"CREATE FUNCTION add_to_open_jobs.*?END \$\$;", _read("queues.sql"), re.DOTALL)
    assert former is not None, "queues.sql defines the function"
    op.get_bind().exec_driver_sql(former[0])
    op.get_bind().exec_driver_sql(_read("task_counts.sql"))
    op.drop_column("open_jobs", "spent_seconds")


def _read(name: str) -> str:
    return (_SQL / name).read_text(encoding="utf-8")
