"""`toolcharter db`: the schemas of databases compared, copied and upgraded."""

import re
import sqlite3
from pathlib import Path

import pytest

from tests.toolcharter.command_line import run

pytestmark = pytest.mark.usefixtures("default_settings")
FILLED = Path(__file__).parents[2] / "data" / "databases"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of the first released schema, with two tasks."""
    with sqlite3.connect(tmp_path / "todo.db") as connection:
        connection.executescript((FILLED / "todo-1.sql").read_text())
    return tmp_path / "todo.db"


def count(file: Path) -> int:
    with sqlite3.connect(file) as connection:
        return connection.execute("SELECT count(*) FROM todo_tasks").fetchone()[0]


@pytest.mark.requirement("FAR-4")
def test_an_upgrade_copies_the_file_first_and_then_has_nothing_to_do(capsys, file: Path):
    url = f"sqlite:///{file}"
    assert run(capsys, "db", "check", "todo", "--db", url) == (
        0,
        (
            f"todo: at 0001_tasks; a start brings it to 0002_tasks_by_status ({url})\n"
            f"todo: idempotency keys: no tables yet ({url})\n"
        ),
        "",
    )
    code, shown, _ = run(capsys, "db", "upgrade", "todo", "--db", url)
    copy = Path(re.search(r"copied to (\S+)", shown)[1])
    assert (code, copy.parent, copy.stat().st_mode & 0o777) == (0, file.parent, 0o600)
    assert "todo: upgraded to 0002_tasks_by_status\n" in shown
    assert (count(file), count(copy)) == (2, 2)
    code, shown, _ = run(capsys, "db", "upgrade", "todo", "--db", url)
    assert (code, shown.splitlines()[0]) == (0, f"todo: as expected, at 0002_tasks_by_status ({url})")
    assert len(list(file.parent.glob("*.bak"))) == 1


@pytest.mark.requirement("FAR-4")
def test_a_check_names_what_differs_and_exits_with_1(capsys, file: Path):
    url = f"sqlite:///{file}"
    run(capsys, "db", "upgrade", "todo", "--db", url)
    with sqlite3.connect(file) as connection:
        connection.execute("DROP INDEX todo_tasks_by_user")
    code, shown, _ = run(capsys, "db", "check", "todo", "--db", url)
    assert code == 1
    assert "missing: index todo_tasks_by_user on todo_tasks (user_id, created_at, id)" in shown
    code, _, error = run(capsys, "db", "upgrade", "todo", "--db", url)
    assert (code, "missing: index" in error) == (1, True)


def test_a_damaged_file_is_not_copied(capsys, file: Path):
    size = file.stat().st_size
    with file.open("r+b") as damaged:
        damaged.seek(size // 2)
        damaged.write(b"\xff" * (size // 2))
    code, _, error = run(capsys, "db", "backup", "todo", "--db", f"sqlite:///{file}")
    assert (code, str(file) in error) == (1, True)
    assert list(file.parent.glob("*.bak")) == []


def test_a_postgresql_database_is_copied_with_pg_dump(
    capsys, postgres_server, postgres_url, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", "")
    code, _, error = run(capsys, "db", "backup", "todo", "--db", postgres_url, "--to", str(tmp_path))
    assert code == 1
    assert error == "A copy of a PostgreSQL database needs pg_dump, which is not installed (postgresql-client).\n"
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("PATH", str(postgres_server.served.bin_path))
    code, _, _ = run(capsys, "db", "backup", "todo", "--db", postgres_url, "--to", str(tmp_path))
    assert code == 0
    assert next(tmp_path.iterdir()).read_bytes().startswith(b"PGDMP")


def test_nothing_is_created_where_no_database_is(capsys, tmp_path: Path):
    url = f"sqlite:///{tmp_path}/none.db"
    assert run(capsys, "db", "check", "todo", "--db", url) == (0, f"todo: no database yet ({url})\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_server_without_a_database_and_an_unknown_one_are_named(capsys):
    assert run(capsys, "db", "check", "guide") == (2, "", "The server 'guide' has no database.\n")
    assert run(capsys, "db", "check", "tood")[0] == 2
