"""The tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0001_tasks"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "todo_tasks",
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("title", sa.String(255), nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("is_completed", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("todo_tasks_by_user", "todo_tasks", ["user_id", "created_at", "id"])


def downgrade() -> None:
    op.drop_table("todo_tasks")
