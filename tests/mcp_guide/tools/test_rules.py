"""The rules for a path."""

import pytest

from tests.mcp_guide.guide_server import error, value, write_documents

SQL = "---\nglobs: [db/**/*.sql, '*.ddl']\n---\nMigrations can be undone.\n"


async def rules_of(call, path: str, **more):
    got = await value(call, "get_rules", path=path, **more)
    return [(rule["path"], rule["applies"]) for rule in got["rules"]], got


@pytest.mark.requirement("GDL-3")
async def test_documents_with_matching_globs_apply(call, root):
    write_documents(
        root,
        {
            "db/sql.md": SQL,
            "db/all.md": "---\nalwaysApply: true\n---\nBe brief.\n",
            "db/off.md": "---\nglobs: '*.sql'\nrequires: [strict]\n---\nStrict.\n",
        },
    )
    found, got = await rules_of(call, "db/migrations/0007.sql")
    assert found == [("db/all.md", "always"), ("db/sql.md", "db/**/*.sql")]
    assert got["content"] == "===== db/all.md =====\nBe brief.\n\n===== db/sql.md =====\nMigrations can be undone."
    assert (await rules_of(call, "deep/x.ddl"))[0] == [("db/all.md", "always"), ("db/sql.md", "*.ddl")]
    assert (await rules_of(call, "src/a.py"))[0] == [("db/all.md", "always")]


@pytest.mark.requirement("GDL-3")
async def test_the_rule_files_of_coding_agents_apply_nested_ones_last(call, tmp_path):
    shop = write_documents(
        tmp_path / "shop",
        {
            "AGENTS.md": "Root rules.\n",
            "CLAUDE.md": "Root rules.\n",
            ".github/copilot-instructions.md": "Copilot rules.\n",
            ".github/instructions/web.instructions.md": "---\napplyTo: 'web/**,*.css'\n---\nWeb rules.\n",
            ".cursor/rules/sql.mdc": "---\ndescription: SQL\nglobs: db/**/*.sql,*.psql\n---\nSQL rules.\n",
            ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nAlways.\n",
            "db/AGENTS.md": "Database rules.\n",
            "web/CLAUDE.md": "Web folder rules.\n",
        },
    )
    (tmp_path / "secret.md").write_text("A secret.")
    (shop / "db" / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "guide.yaml").write_text(f"projects:\n  shop:\n    folder: {shop}\n")
    for path in ("db/migrations/0007.sql", f"{shop}/db/migrations/0007.sql"):
        found, got = await rules_of(call, path, project="shop")
        assert found == [
            ("CLAUDE.md", "./"),
            (".github/copilot-instructions.md", "./"),
            (".cursor/rules/always.mdc", "always"),
            (".cursor/rules/sql.mdc", "db/**/*.sql"),
            ("db/AGENTS.md", "db/"),
        ]
        assert "secret" not in str(got)
    found, _ = await rules_of(call, "web/app.ts", project="shop")
    assert found[-2:] == [(".github/instructions/web.instructions.md", "web/**"), ("web/CLAUDE.md", "web/")]


@pytest.mark.requirement("GDL-3")
async def test_the_most_general_rules_are_left_out_of_a_small_budget(call, root, tmp_path):
    write_documents(root, {"db/a.md": f"---\nalwaysApply: true\n---\n{'General. ' * 400}\n", "db/sql.md": SQL})
    found, got = await rules_of(call, "db/a.sql", budget=500)
    assert found == [("db/sql.md", "db/**/*.sql")]
    assert [one["path"] for one in got["left_out"]] == ["db/a.md"]


@pytest.mark.requirement("GDL-3")
@pytest.mark.parametrize("path", ["../x.sql", "/etc/passwd", "", "a/../../b"])
async def test_a_path_outside_of_the_project_is_refused(call, path):
    assert (await error(call, "get_rules", path=path))[0] == "ValidationError"


async def test_without_rules_the_answer_says_so(call):
    _, answer = await call("get_rules", path="src/a.py")
    assert answer["value"] == {"content": "", "rules": []}
    assert answer["message"] == "No rule applies to 'src/a.py': no document has `globs` that match it."
