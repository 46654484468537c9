"""Idempotency keys, and the answers to the calls that came with them."""

import sqlalchemy as sa
from alembic import op

revision = "0001_idempotency"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "toolcharter_idempotency",
        sa.Column("server", sa.String(64), primary_key=True),
        sa.Column("caller", sa.Text, primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("tool", sa.String(128), nullable=False),
        sa.Column("arguments", sa.String(64), nullable=False),  # a digest
        sa.Column("answer", sa.Text),
        sa.Column("expires_at", sa.BigInteger, nullable=False),  # in seconds since 1970
    )
    op.create_index("toolcharter_idempotency_by_expiry", "toolcharter_idempotency", ["expires_at"])


def downgrade() -> None:
    op.drop_table("toolcharter_idempotency")
