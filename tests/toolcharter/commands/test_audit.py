"""`toolcharter audit`: query, follow and verify the trail of a real server."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_core import App, Caller, NotFound, Request, Settings, UnknownTool
from tests.mcp_core.declared import Number, Text, query
from tests.toolcharter.command_line import run

NASTY = "a\n2026-01-01 ok faked\x1b[31m\x9b31m\u2028b\u202ec"
"""A line break, two ways to write ANSI codes, a break that is not ASCII, and text that runs backwards."""


@query({"n": 1})
async def double(n: Number) -> int:
    if n == 0:
        raise NotFound(f"There is no 0. {NASTY}")
    return 2 * n


@query({"text": "x"})
async def crash(text: Text) -> int:
    raise ZeroDivisionError(f"token=hunter2hunter2 {text}")


async def calls(app: App) -> None:
    async with app:
        for name, n in (("ann", 1), ("bob", 2), ("ann", 0)):
            await app.answer(Request("double", {"n": n}, Caller(f"user:{name}"), "claude", "4.1"))
        with pytest.raises(UnknownTool):
            await app.answer(Request(NASTY, {}, Caller(f"user:{NASTY}"), NASTY, NASTY, meta={"correlationId": NASTY}))
        await app.answer(Request("crash", {"text": "password: hunter3"}, Caller("user:eve")))


@pytest.fixture(params=["file", "database"])
def trail(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    target = str(tmp_path / "audit.jsonl") if request.param == "file" else f"sqlite:///{tmp_path / 'audit.db'}"
    settings = Settings(audit=target, audit_arguments=True)
    asyncio.run(calls(App("test", version="1.0.0", tools=[double, crash], settings=settings)))
    return target


def test_records_are_shown_by_tool_caller_outcome_and_time(capsys, trail: str):
    code, shown, _ = run(capsys, "audit", trail)
    lines = shown.splitlines()
    assert (code, len(lines)) == (0, 7)
    assert "-- opened server=test" in lines[0]
    assert lines[1].split()[1:6] == ["ok", "double", "user:ann", "claude", "4.1"]
    assert "-- closed" in lines[-1]

    def found(*options: str) -> int:
        return len(run(capsys, "audit", trail, *options)[1].splitlines())

    assert found("--tool", "double") == 3
    assert found("--caller", "ann") == found("--caller", "user:ann") == 2
    assert found("--outcome", "business") == found("--tool", "double", "--outcome", "business") == 1
    assert (found("--since", "1h"), found("--since", "2100-01-01")) == (7, 0)
    assert found("--last", "2") == 2
    records = [json.loads(line) for line in run(capsys, "audit", trail, "--tool", "double", "--json")[1].splitlines()]
    assert [record["arguments"] for record in records] == [{"n": 1}, {"n": 2}, {"n": 0}]


@pytest.mark.requirement("LOG-6")
def test_nothing_that_a_client_sends_fakes_a_line_or_controls_the_terminal(capsys, trail: str):
    for options in ((), ("--json",)):
        shown = run(capsys, "audit", trail, *options)[1]
        assert len(shown.splitlines()) == 7  # splitlines breaks at U+2028 and U+0085 too
        assert not any(character in shown for character in "\x1b\x9b\u2028\u202e")
        assert "hunter" not in shown


@pytest.mark.requirement("OPS-5")
def test_verify_says_what_is_there_and_fails_after_a_change(capsys, tmp_path: Path, trail: str):
    code, shown, errors = run(capsys, "audit", "verify", trail)
    lines = shown.splitlines()
    assert (code, errors) == (0, "")
    assert lines[0].endswith(": records 1 to 7")
    assert lines[1].startswith("  checkpoint test-")
    assert lines[2] == "7 records in 1 chain: no problems found"
    (tmp_path / "checkpoints").write_text(shown)
    assert run(capsys, "audit", "verify", trail, "--checkpoints", str(tmp_path / "checkpoints"))[0] == 0
    if "://" in trail:
        return
    path = Path(trail)
    path.write_text(path.read_text().replace('"outcome":"business"', '"outcome":"ok"'))
    code, shown, errors = run(capsys, "audit", "verify", trail)
    assert (code, shown.splitlines()[-1]) == (1, "7 records in 1 chain: 1 problem found")
    assert errors.startswith(f"{trail}, line 4: record 4 of test-")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    code, shown, errors = run(capsys, "audit", "verify", trail, "--checkpoints", str(tmp_path / "checkpoints"))
    assert (code, "not closed" in shown) == (1, True)
    assert "records 4 to 7 at least" in errors


def test_verify_of_a_keyed_trail_fails_without_its_key(capsys, tmp_path: Path):
    key, target = tmp_path / "key", tmp_path / "audit.jsonl"
    key.write_text("k" * 32)
    settings = Settings(audit=str(target), audit_key=key)
    asyncio.run(calls(App("test", version="1.0.0", tools=[double, crash], settings=settings)))
    assert run(capsys, "audit", "verify", str(target), "--audit-key", str(key))[0] == 0
    code, _, errors = run(capsys, "audit", "verify", str(target))
    assert (code, errors) == (1, "7 records cannot be checked: give the key of the trail with --audit-key\n")


@pytest.mark.parametrize("kind", ["file", "database"])
def test_follow_goes_on_with_new_records_also_after_a_rotation(tmp_path: Path, kind: str):
    path = tmp_path / "audit.jsonl"
    target = str(path) if kind == "file" else f"sqlite:///{tmp_path / 'audit.db'}"

    async def one_call(n: int) -> None:
        async with App("test", version="1.0.0", tools=[double], settings=Settings(audit=target)) as app:
            await app.call("double", {"n": n})

    asyncio.run(one_call(1))
    words = ["audit", target, "--follow", "--tool", "double"]
    program = f"from toolcharter.cli import main; main({words!r})"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as following:
        try:
            assert "double" in following.stdout.readline()
            asyncio.run(one_call(2))
            assert "double" in following.stdout.readline()
            if kind == "file":
                path.rename(tmp_path / "audit.jsonl.1")
            asyncio.run(one_call(3))
            assert "double" in following.stdout.readline()
        finally:
            following.kill()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "Name the file or the database of a trail, or set TOOLCHARTER_AUDIT."),
        (("/nowhere/audit.jsonl",), 2, "The file /nowhere/audit.jsonl does not exist."),
        (("sqlite:////nowhere/audit.db",), 2, "The audit database '/nowhere/audit.db' does not exist."),
        (("verify", "a", "b"), 2, "Give one trail, not 2: a, b"),
        (
            (__file__, "--since", "yesterday"),
            2,
            "--since: 'yesterday' is not a time; write 2h, 7d or 2026-11-18T10:00.",
        ),
    ],
)
def test_a_wrong_command_line_is_explained(capsys, words: tuple[str, ...], code: int, said: str):
    assert run(capsys, "audit", *words) == (code, "", f"{said}\n")
