"""Long lists: which tasks are shown, and which index finds them."""

import json

import pytest
import sqlalchemy as sa

from mcp_core import Settings
from mcp_todo import store
from mcp_todo.app import build
from mcp_todo.model import MAX_LISTED, TaskRepository
from mcp_todo.store import SqlTaskRepository, open_repository

FILL = {
    "sqlite": """
        INSERT INTO todo_tasks
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :last)
        SELECT printf('%032x', i), 'ana', 'Task ' || i, NULL, i % 600 <> 0,
            strftime('%Y-%m-%d %H:%M:%f', '2026-01-01', '+' || i || ' seconds') || '000' FROM n""",
    "postgresql": """
        INSERT INTO todo_tasks
        SELECT lpad(to_hex(i), 32, '0')::uuid, 'ana', 'Task ' || i, NULL, i % 600 <> 0,
            timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second' FROM generate_series(0, :last) i""",
}


async def fill(tasks: SqlTaskRepository, number: int) -> None:
    """Tasks of ana, of which every 600th is pending."""

    def insert(connection: sa.Connection) -> None:
        connection.execute(sa.text(FILL[connection.dialect.name]), {"last": number - 1})
        connection.exec_driver_sql("ANALYZE")

    await tasks.database.write(insert)


@pytest.mark.requirement("TOD-2")
async def test_of_a_long_list_the_newest_are_shown_and_a_second_text_counts_the_others(db_url):
    app = build(Settings(db=db_url))
    async with app:
        await fill(app.provided(TaskRepository), MAX_LISTED + 7)
        answer = await app.call("list_tasks", {"user_id": "ana"})
        few = await app.call("list_tasks", {"user_id": "ana", "status": "pending"})
    shown, note = answer.content()
    titles = [task["title"] for task in json.loads(shown["text"])]
    assert (len(titles), titles[0], titles[-1]) == (MAX_LISTED, "Task 7", f"Task {MAX_LISTED + 6}")
    assert note["text"] == (
        "These are the newest 5,000 tasks; 7 older ones are not shown. List the pending ones alone: status 'pending'."
    )
    assert shown["text"].startswith('[{"id":')
    assert (len(json.loads(few.text)), len(few.content())) == (9, 1)


async def test_pending_tasks_are_found_by_an_index_that_no_completed_task_is_in_the_way_of(db_url):
    async with open_repository(db_url) as tasks:
        await fill(tasks, 6000)

        def plan(connection: sa.Connection) -> str:
            values = {"owner": "ana", "is_completed": False}
            explain = "EXPLAIN QUERY PLAN " if connection.dialect.name == "sqlite" else "EXPLAIN "
            query = store._LIST_BY_STATUS.compile(connection, compile_kwargs={"render_postcompile": True})
            return "\n".join(str(row) for row in connection.exec_driver_sql(explain + literal(query, values)))

        text = await tasks.database.read(plan)
    assert "todo_tasks_by_status" in text, text
    assert "TEMP B-TREE" not in text


def literal(query: sa.sql.compiler.Compiled, values: dict[str, object]) -> str:
    statement = query.statement.params(**values)
    return str(statement.compile(dialect=query.dialect, compile_kwargs={"literal_binds": True}))
