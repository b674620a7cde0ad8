"""Keep the plans of triggers, and write rows of the queue once where a statement wrote them twice.

The previous release can use this schema.
"""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_SQL = Path(__file__).resolve().parents[1] / "sql"
_REPLACED = {
    "add_to_account_queues": "waiting_jobs.sql",
    "add_to_open_jobs": "spent_seconds.sql",
    "count_new_tasks": "open_jobs_renderers.sql",
    "count_gone_tasks": "queues.sql",
    "count_moved_tasks": "waiting_jobs.sql",
    "count_moved_jobs": "open_jobs_renderers.sql",
}
"""The functions that single_writes.sql replaces, and the files with their former selves."""


def upgrade() -> None:
    """Apply the change."""
    op.get_bind().exec_driver_sql(_read("single_writes.sql"))


def downgrade() -> None:
    """Take the former functions back."""
    op.execute("DROP FUNCTION add_to_account_queues(text[], text[], int[], bigint[], bigint[])")
    for name, file in _REPLACED.items():
        former = re.search(
            rf"^CREATE (?:OR REPLACE )?(FUNCTION {name}\(.*?^END \$\$;)", _read(file), re.MULTILINE | re.DOTALL
        )
        assert former is not None, f"{file} makes {name}"
        op.get_bind().exec_driver_sql(f"CREATE OR REPLACE {former[1]}")
    op.execute("DROP FUNCTION add_to_leased_frames(text[], bigint[])")
    for name in ("count_new_jobs", "count_object_charges"):
        op.execute(f"ALTER FUNCTION {name} RESET ALL")
    op.execute("ALTER FUNCTION count_gone_jobs RESET plan_cache_mode")


def _read(name: str) -> str:
    return (_SQL / name).read_text(encoding="utf-8")
