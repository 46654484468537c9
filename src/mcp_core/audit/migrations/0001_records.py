"""The records of all chains."""

import sqlalchemy as sa
from alembic import op

revision = "0001_records"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "toolcharter_audit",
        sa.Column("chain", sa.Text, primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("tool", sa.Text),
        sa.Column("caller", sa.Text),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
    )
    op.create_index("toolcharter_audit_time", "toolcharter_audit", ["time"])


def downgrade() -> None:
    op.drop_table("toolcharter_audit")
