"""Find batches by their template: each deletion of a template's row looks for them. This only adds to the schema."""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.create_index("batches_of_template", "batches", ["template_id"])


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("batches_of_template", table_name="batches")
