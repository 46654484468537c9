import json
from pathlib import Path

import pytest

from mcp_guide.commands import import_file
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.configuration.yaml_text import YamlError
from mcp_guide.model import Category, Collection, Configuration, Project

MAPPING = """\
docroot: /guides
feature_flags:
  beta: true
  content-style: mime
projects:
  app:
    categories:
      lang: {dir: lang/, patterns: ["*.md", python], description: Languages}
      docs: {dir: docs/x/, patterns: [README*]}
    collections:
      all: {categories: [start, docs]}
      start: {categories: [lang, docs/api], description: Begin}
    project_flags: {team: core, names: [a, b]}
"""
LISTS = {
    "docroot": "/guides",
    "feature_flags": {"beta": True, "content-style": "mime"},
    "projects": [
        {
            "name": "app",
            "categories": [
                {"name": "lang", "dir": "lang", "patterns": ["*.md", "python"], "description": "Languages"},
                {"name": "docs", "dir": "docs/x", "patterns": ["README*"], "description": None},
            ],
            "collections": [
                {"name": "all", "categories": ["start", "docs"]},
                {"name": "start", "categories": ["lang", "docs/api"], "description": "Begin"},
            ],
            "project_flags": {"team": "core", "names": ["a", "b"]},
        }
    ],
}
APP = Project(
    "app",
    root=Path("/guides"),
    categories={
        "lang": Category("lang", "lang", ("*.md", "python"), "Languages"),
        "docs": Category("docs", "docs/x", ("README*",)),
    },
    collections={
        "all": Collection("all", ("start", "docs")),
        "start": Collection("start", ("lang", "docs/api"), "Begin"),
    },
    flags={"team": "core", "names": ["a", "b"]},
    folders=False,
)


@pytest.fixture
def target(tmp_path: Path) -> ConfigurationFile:
    return ConfigurationFile(tmp_path / "guide.yaml")


def run(target: ConfigurationFile, text: str, *options: str) -> int:
    source = target.path.with_name("config.yaml")
    source.write_text(text, encoding="utf-8")
    return import_file.command([str(source), "--config", str(target.path), *options])


@pytest.mark.parametrize("text", [MAPPING, json.dumps(LISTS), json.dumps(LISTS, indent="\t")])
def test_both_forms_are_imported_completely(target, text, capsys):
    assert run(target, text) == 0
    assert target.read() == Configuration(projects={"app": APP}, flags={"beta": True, "content-style": "mime"})
    assert capsys.readouterr().out == (
        f"From {target.path.with_name('config.yaml')} into {target.path}\n"
        "Imported:\n"
        "  global flag 'beta'\n"
        "  global flag 'content-style'\n"
        "  project 'app': 2 categories, 2 collections, 2 flags; documents in /guides\n"
        "Next: mcp-guide --project app\n"
        f"Or set `folder: /path/to/your/work` of the project in {target.path}, to make it active in that folder.\n"
    )


def test_existing_entries_are_replaced_only_with_replace(target, capsys):
    mine = "flags: {beta: false}\nprojects: {app: {folder: /work, mode: CHECK}, mine: {}}\n"
    target.path.write_text(mine, encoding="utf-8")
    assert run(target, MAPPING) == 0
    assert target.read() == Configuration(
        projects={"app": Project("app", folder=Path("/work"), mode="CHECK"), "mine": Project("mine")},
        flags={"beta": False, "content-style": "mime"},
    )
    assert (
        "Skipped:\n"
        "  feature_flags.beta: already set to False; --replace replaces it\n"
        "  projects.app: already exists; --replace replaces it\n"
    ) in capsys.readouterr().out
    assert run(target, MAPPING, "--replace") == 0
    assert target.read() == Configuration(
        projects={
            "app": import_file.replace(APP, folder=Path("/work"), mode="CHECK"),
            "mine": Project("mine"),
        },
        flags={"beta": True, "content-style": "mime"},
    )


def test_only_invalid_entries_are_skipped_and_each_is_named():
    imported = import_file.parse("""\
docroot: guides
version: 3
feature_flags: {ok: 1, nested: {a: b}}
projects:
  app-1a2b:
    name: app
    hash: 1a2b
    allowed_write_paths: [docs/]
    additional_read_paths: [/etc]
    project_flags: [x]
    categories:
      lang: {dir: lang/, patterns: []}
      out: {dir: ../out/, patterns: ["*"]}
      7: {dir: seven, patterns: one, colour: red}
    collections:
      some: {categories: [lang, gone, "{"]}
      part: {categories: [lang, gone]}
      none: {categories: [gone]}
      lang: {categories: [lang]}
      loop: {categories: [pool]}
      pool: {categories: [loop]}
      user: {categories: [lang, loop]}
  app-3c4d:
    name: app
    categories:
    - {name: one, dir: one, patterns: ["*"]}
    - {name: one, dir: two, patterns: ["*"]}
    - 7
  a/b: {}
  broken: 7
""")
    assert imported.flags == {"ok": 1}
    assert imported.projects == {
        "app": Project(
            "app",
            categories={"lang": Category("lang", "lang"), "7": Category("7", "seven", ("one",))},
            collections={"part": Collection("part", ("lang",))},
            folders=False,
        ),
        "app-3c4d": Project("app-3c4d", categories={"one": Category("one", "one", ("*",))}, folders=False),
    }
    app = "projects.app-1a2b"
    assert [line.partition(": ")[0] for line in imported.skipped] == [
        "docroot",
        "feature_flags.nested",
        "projects.broken",
        f"{app}.project_flags",
        f"{app}.categories.lang",
        f"{app}.categories.out",
        f"{app}.categories.7.colour",
        f"{app}.collections.some.categories",
        f"{app}.collections.some",
        f"{app}.collections.part.categories",
        f"{app}.collections.none.categories",
        f"{app}.collections.none",
        f"{app}.collections.lang",
        f"{app}.collections.loop",
        f"{app}.collections.pool",
        f"{app}.collections.user",
        f"{app}.hash",
        f"{app}.allowed_write_paths",
        f"{app}.additional_read_paths",
        "projects.app-3c4d.categories.one",
        "projects.app-3c4d.categories.[2]",
        "projects.a/b",
        "version",
    ]
    assert f"{app}.allowed_write_paths: not imported: add the folder to export_folders by hand" in imported.skipped
    assert f"{app}.additional_read_paths: not supported: only the document root is read" in imported.skipped
    gone = "'gone' is not a category or collection of the project"
    assert f"{app}.collections.part.categories: {gone}" in imported.skipped


@pytest.mark.parametrize(("written", "root"), [("~/g", "/home/ana/g"), ("${HOME}/g", "/home/ana/g"), ("$NONE/g", None)])
def test_the_docroot_may_be_written_with_variables(written, root, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ana")
    monkeypatch.delenv("NONE", raising=False)
    assert import_file.parse(f"docroot: {written}\n").root == (root and Path(root))


@pytest.mark.parametrize(
    ("text", "words"),
    [("a: [", "config.yaml, line 1 cannot be imported"), ("- 1\n", "it has no projects"), ("", "no projects")],
)
def test_a_file_that_is_not_a_configuration_changes_nothing(target, text, words, capsys):
    assert run(target, text) == 1
    assert words in capsys.readouterr().err
    assert not target.path.exists()
    with pytest.raises(YamlError):
        import_file.parse(text)


def test_a_missing_file_and_an_invalid_target_are_reported(target, tmp_path, capsys):
    assert import_file.command([str(tmp_path / "gone.yaml"), "--config", str(target.path)]) == 1
    assert "gone.yaml cannot be imported: No such file or directory\n" in capsys.readouterr().err
    target.path.write_text("flags: 7\n", encoding="utf-8")
    assert run(target, MAPPING) == 1
    assert "The configuration is not valid." in capsys.readouterr().err
    assert target.path.read_text(encoding="utf-8") == "flags: 7\n"


def test_importing_nothing_is_a_failure(target, capsys):
    assert run(target, "projects: {}\n") == 1
    assert "Imported:\n  nothing\n" in capsys.readouterr().out


def test_templates_are_reported_because_they_are_not_rendered(target, tmp_path, capsys):
    (tmp_path / "guides" / "lang").mkdir(parents=True)
    (tmp_path / "guides" / "lang" / "a.md.mustache").write_text("{{name}}")
    run(target, f"docroot: {tmp_path / 'guides'}\nprojects: {{app: {{}}}}\n")
    reason = "1 template (*.mustache) is not rendered; the text is returned as written"
    assert f"  docroot {tmp_path / 'guides'}: {reason}\n" in capsys.readouterr().out
