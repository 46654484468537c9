"""Calls that outlive their request."""

import sqlalchemy as sa
from alembic import op

revision = "0002_tasks"
down_revision = "0001_idempotency"


def upgrade() -> None:
    op.create_table(
        "toolcharter_tasks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("server", sa.String(64), nullable=False),
        sa.Column("binding", sa.String(64), nullable=False),  # a digest of the caller
        sa.Column("expires_at", sa.BigInteger, nullable=False),  # in seconds since 1970
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_index("toolcharter_tasks_by_caller", "toolcharter_tasks", ["server", "binding"])
    op.create_index("toolcharter_tasks_by_expiry", "toolcharter_tasks", ["expires_at"])


def downgrade() -> None:
    op.drop_table("toolcharter_tasks")
