"""Look up the next job of an account only if one of its jobs became less urgent: most leases and ends of segments change no order.

Only a function changes: the previous release can use this schema, and no table is locked.
"""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_SQL = Path(__file__).resolve().parents[1] / "sql"


def upgrade() -> None:
    """Apply the change."""
    op.get_bind().exec_driver_sql(_read("earlier_places.sql"))


def downgrade() -> None:
    """Take the former function back."""
    former = re.search(
        r"^CREATE OR REPLACE FUNCTION add_to_open_jobs\(.*?^END \$\$;",
        _read("single_writes.sql"),
        re.MULTILINE | re.DOTALL,
    )
    assert former is not None, "single_writes.sql makes the function"
    op.get_bind().exec_driver_sql(former[0])


def _read(name: str) -> str:
    return (_SQL / name).read_text(encoding="utf-8")
