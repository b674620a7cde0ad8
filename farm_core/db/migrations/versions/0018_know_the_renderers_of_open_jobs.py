"""Know the renderers of open jobs: a dispatch round looked up each job to read its renderer.

This only adds to the schema, so the previous release still works with it, and the triggers keep the column for it.
"""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_SQL = Path(__file__).resolve().parents[1] / "sql"
_REPLACED = {"count_new_tasks": "queues.sql", "count_moved_jobs": "waiting_jobs.sql"}
"""The functions that are replaced, and the files with their former selves."""


def upgrade() -> None:
    """Apply the change."""
    op.add_column("open_jobs", sa.Column("renderer", sa.String(), nullable=True))
    op.get_bind().exec_driver_sql(_read("open_jobs_renderers.sql"))


def downgrade() -> None:
    """Take the former functions back, and the column away."""
    for name, file in _REPLACED.items():
        former = re.search(
            rf"^CREATE (?:OR REPLACE )?(FUNCTION {name}\(.*?^END \$\$;)", _read(file), re.MULTILINE | re.DOTALL
        )
        assert former is not None, f"{file} makes {name}"
        op.get_bind().exec_driver_sql(f"CREATE OR REPLACE {former[1]}")
    op.drop_column("open_jobs", "renderer")


def _read(name: str) -> str:
    return (_SQL / name).read_text(encoding="utf-8")
