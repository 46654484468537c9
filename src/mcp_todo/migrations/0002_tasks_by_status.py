"""An index of tasks by their status, so that the open ones are found whatever was completed."""

from alembic import op

revision = "0002_tasks_by_status"
down_revision = "0001_tasks"


def upgrade() -> None:
    op.create_index("todo_tasks_by_status", "todo_tasks", ["user_id", "is_completed", "created_at", "id"])


def downgrade() -> None:
    op.drop_index("todo_tasks_by_status")
