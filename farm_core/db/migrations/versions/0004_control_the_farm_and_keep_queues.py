"""Control the farm: audit log, pauses, drains, priorities; and keep each account's queue for the claim.

This only adds to the schema, so the previous release still works with it, and the triggers keep the new tables right for it. Writers of
jobs and tasks wait while it runs, longer the more jobs there are.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0002"
branch_labels = None
depends_on = None

_QUEUES = Path(__file__).resolve().parents[1] / "sql" / "queues.sql"
_PLACE = (
    "(date_part('epoch', created_at AT TIME ZONE 'UTC') + reserved_ms / 1000.0::double precision"
    " - 86400.0::double precision * priority)"
)
_FUNCTIONS = (
    "count_new_tasks()", "count_gone_tasks()", "count_moved_tasks()", "count_new_jobs()", "count_gone_jobs()", "count_moved_jobs()",
    "keep_account_queue()", "add_to_open_jobs(text[], text[], bigint[], bigint[], bigint[], bigint[], bigint[])",
    "add_to_account_queues(text[], text[], int[], bigint[])", "job_base(timestamptz, int)",
)  # fmt: skip


def _moment(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _count(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.BigInteger(), server_default="0", nullable=False)


def upgrade() -> None:
    """Apply the change."""
    _add_controls()
    _add_queues()

    op.get_bind().exec_driver_sql(_QUEUES.read_text(encoding="utf-8"))

    # Its sums are kept now; the planner must not prefer it to the index that has the order of the claim.
    op.drop_index("jobs_active", table_name="jobs")
    # Rows that change in place leave their indexes alone, and dead rows are cleared long before a fifth of a table is dead.
    op.execute("ALTER TABLE jobs SET (fillfactor = 85)")
    for table in ("jobs", "tasks", "job_events", "deliveries", "account_queues", "open_jobs"):
        op.execute(
            f"ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000)"
        )


def _add_controls() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", sa.BigInteger(), autoincrement=True, nullable=False),
        _moment("at", nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("who", "role", "action", "target")),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    for column in ("action", "target"):
        op.create_index(op.f(f"ix_audit_log_{column}"), "audit_log", [column])
    op.create_table(
        "queue_state",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        _moment("paused_at"),
        sa.CheckConstraint("id = 1", name="ck_queue_state_one_row"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "drained_nodes",
        sa.Column("node", sa.String(), nullable=False),
        _moment("drained_at", nullable=False),
        sa.PrimaryKeyConstraint("node"),
    )
    op.add_column("accounts", sa.Column("operator", sa.Boolean(), server_default="false", nullable=False))
    op.add_column("accounts", sa.Column("priority", sa.Integer(), server_default="0", nullable=False))
    op.add_column("accounts", _moment("paused_at"))
    op.add_column("accounts", _moment("suspended_at"))
    op.add_column("jobs", sa.Column("priority", sa.Integer(), server_default="0", nullable=False))
    op.add_column("workers", _moment("drained_at"))
    op.add_column("workers", _moment("restart_requested_at"))


def _add_queues() -> None:
    op.create_table(
        "account_queues",
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("held", sa.Boolean(), server_default="false", nullable=False),
        *(_count(name) for name in ("queued", "processing", "completed", "failed", "cancelled", "reserved_ms")),
        _moment("next_created_at"),
        sa.Column("next_job_id", sa.String(), nullable=True),
        _count("leased_frames"),
        sa.Column("ready_place", sa.Float(), nullable=True),
        sa.Column("turn", sa.Float(), sa.Computed("(processing + 1) * power(2, -priority)", persisted=True)),
        sa.Column("load", sa.Float(), sa.Computed("leased_frames * power(2, -priority)", persisted=True)),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("account_id"),
        postgresql_with={"fillfactor": 50},
    )
    op.create_index(
        "account_queues_turn", "account_queues", ["turn", "next_created_at", "next_job_id"],
        postgresql_where=sa.text("next_job_id IS NOT NULL AND NOT held"),
    )  # fmt: skip
    op.create_index(
        "account_queues_load", "account_queues", ["load", "ready_place", "account_id"],
        postgresql_where=sa.text("ready_place IS NOT NULL AND NOT held"),
    )  # fmt: skip
    op.create_table(
        "open_jobs",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("base", "fps")),
        *(_count(name) for name in ("leased_frames", "open_frames", "waiting", "running", "assemblies")),
        sa.Column(
            "ready_place",
            sa.Float(),
            sa.Computed(
                "CASE WHEN waiting > 0 THEN base + open_frames / fps"
                " WHEN open_frames = 0 AND assemblies > 0 THEN base - 1e12 END",
                persisted=True,
            ),
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id"),
        postgresql_with={"fillfactor": 50},
    )
    op.create_index(
        "open_jobs_ready", "open_jobs", ["account_id", "ready_place", "job_id"],
        postgresql_where=sa.text("ready_place IS NOT NULL"),
    )  # fmt: skip
    op.create_index(
        "jobs_next", "jobs", ["account_id", sa.text(_PLACE), "id"], postgresql_where=sa.text("status = 'queued'")
    )
    op.create_index("jobs_video", "jobs", ["video_key"], postgresql_where=sa.text("video_key IS NOT NULL"))
    op.create_index("jobs_document", "jobs", ["document_key"], postgresql_where=sa.text("document_key IS NOT NULL"))
    op.create_index(
        "jobs_media", "jobs", [sa.text("jsonb_path_query_array(media, '$.*'::jsonpath)")],
        postgresql_using="gin", postgresql_where=sa.text("jsonb_typeof(media) = 'object' AND media <> '{}'::jsonb"),
    )  # fmt: skip
    op.create_index("tasks_waiting", "tasks", ["job_id", "index"], postgresql_where=sa.text("status = 'pending'"))
    op.create_index("jobs_finished", "jobs", ["finished_at"], postgresql_where=sa.text("finished_at IS NOT NULL"))


def downgrade() -> None:
    """Take the change back."""
    for table, triggers in {
        "jobs": ("inserted", "updated", "deleted"),
        "tasks": ("inserted", "updated", "deleted"),
        "accounts": ("queue",),
    }.items():
        for trigger in triggers:
            op.execute(f"DROP TRIGGER {table}_{trigger} ON {table}")
    for function in _FUNCTIONS:
        op.execute(f"DROP FUNCTION {function}")
    op.drop_index("tasks_waiting", table_name="tasks")
    for index in ("jobs_next", "jobs_finished", "jobs_video", "jobs_document", "jobs_media"):
        op.drop_index(index, table_name="jobs")
    op.execute("ALTER TABLE jobs RESET (fillfactor)")
    active = sa.text("status IN ('queued', 'processing')")
    op.create_index("jobs_active", "jobs", ["account_id"], postgresql_where=active)
    for table in ("jobs", "tasks", "job_events", "deliveries"):
        op.execute(f"ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)")
    for table in ("open_jobs", "account_queues", "drained_nodes", "queue_state", "audit_log"):
        op.drop_table(table)
    for table, columns in {
        "workers": ("drained_at", "restart_requested_at"),
        "jobs": ("priority",),
        "accounts": ("operator", "priority", "paused_at", "suspended_at"),
    }.items():
        for column in columns:
            op.drop_column(table, column)
