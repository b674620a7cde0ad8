"""Find due webhooks by account: a claim read all that were due, and one account could have hundreds of thousands.

This only adds to the schema, so the previous release still works with it, and a trigger names the account in the rows that it writes.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_SQL = Path(__file__).resolve().parents[1] / "sql" / "delivery_accounts.sql"
_DUE = sa.text("status = 'due'")
_LEASED = sa.text("status = 'due' AND lease_expires_at IS NOT NULL")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("deliveries", sa.Column("account_id", sa.String(), nullable=True))
    op.get_bind().exec_driver_sql(_SQL.read_text(encoding="utf-8"))
    op.create_index("deliveries_due_by_account", "deliveries", ["account_id", "due_at", "id"], postgresql_where=_DUE)
    op.create_index("deliveries_leased", "deliveries", ["lease_expires_at"], postgresql_where=_LEASED)


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("deliveries_leased", table_name="deliveries", postgresql_where=_LEASED)
    op.drop_index("deliveries_due_by_account", table_name="deliveries", postgresql_where=_DUE)
    op.execute("DROP TRIGGER name_account_of_delivery ON deliveries")
    op.execute("DROP FUNCTION name_account_of_delivery()")
    op.drop_column("deliveries", "account_id")
