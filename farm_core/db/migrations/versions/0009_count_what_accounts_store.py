"""Count the bytes that each account has in storage, object by object, and let accounts have a limit of their own.

This only adds to the schema, so the previous release still works with it; what it stores meanwhile is not counted.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_CHARGES = Path(__file__).resolve().parents[1] / "sql" / "charges.sql"


def upgrade() -> None:
    """Apply the change."""
    op.add_column("accounts", sa.Column("max_storage_bytes", sa.BigInteger(), nullable=True))
    op.add_column("account_queues", sa.Column("stored_bytes", sa.BigInteger(), server_default="0", nullable=False))
    op.create_table(
        "object_charges",
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("bytes >= 0", name="ck_object_charges_bytes"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("account_id", "key"),
    )
    op.create_index(op.f("ix_object_charges_key"), "object_charges", ["key"])
    op.get_bind().exec_driver_sql(_CHARGES.read_text(encoding="utf-8"))


def downgrade() -> None:
    """Take it back."""
    op.drop_table("object_charges")
    op.execute("DROP FUNCTION count_object_charges()")
    op.execute("DROP FUNCTION add_to_stored_bytes(text[], bigint[])")
    op.drop_column("account_queues", "stored_bytes")
    op.drop_column("accounts", "max_storage_bytes")
