"""Find the recent failures of workers without reading the history of all jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.create_index(
        "job_events_strikes",
        "job_events",
        ["at"],
        postgresql_where=sa.text("(detail ->> 'kind') IN ('crash', 'stall')"),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("job_events_strikes", "job_events")
