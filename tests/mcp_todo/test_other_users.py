"""Another user's task and one that does not exist: the same answer, by the same work."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mcp_core import Settings
from mcp_core.auth import user
from mcp_todo.app import build
from tests.mcp_todo.talking import DENIED, added, calling_app
from tests.sql_statements import recorded


@pytest.mark.requirement("VAL-2", "ERR-2")
@pytest.mark.parametrize(
    ("tool", "more"),
    [("complete_task", {}), ("delete_task", {}), ("update_task", {"title": "Mine now"})],
)
async def test_not_yours_cannot_be_told_from_not_there(tmp_path: Path, tool: str, more: dict[str, Any]):
    async with build(Settings(db=f"sqlite:///{tmp_path / 'todo.db'}", deadline=30)) as app:
        ann, ben = (calling_app(app, user(name, ("*",))) for name in ("ann", "ben"))
        hers = await added(ann, "ann")
        await added(ben, "ben")
        answers, work = [], []
        for task_id in (str(uuid4()), hers):
            with recorded() as statements:
                answers.append(await ben(tool, user_id="ben", task_id=task_id, **more))
            work.append(statements)
        assert answers == [DENIED, DENIED]
        assert work[0] == work[1]
        assert work[0]
        _, tasks = await ann("list_tasks", user_id="ann")
        assert [(task["id"], task["title"], task["is_completed"]) for task in tasks] == [(hers, "Buy milk", False)]
