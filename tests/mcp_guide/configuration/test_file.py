"""The configuration file: real files, real threads, real processes."""

import errno
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core import Conflict, Unavailable, instructions
from mcp_guide.configuration import changes, data, yaml_text
from mcp_guide.configuration import file as file_module
from mcp_guide.configuration.file import ConfigurationFile, InvalidConfiguration
from mcp_guide.model import Category, Collection, Configuration, Project
from tests.thorough import examples

WHOLE = Configuration(
    projects={
        "app": Project(
            "app",
            root=Path("/docs"),
            folder=Path("/work/app"),
            categories={
                "lang": Category("lang", "lang"),
                "docs": Category("docs", "d/x", ("*.md", "{a,b}/**"), "Texts: all", extra={"owner": "ana"}),
            },
            collections={"start": Collection("start", ("lang/a+b,docs", "docs"), "Begin here.", {"since": 2})},
            flags={"beta": True, "team": "core", "count": 3, "ratio": 0.5, "names": ["a", "yes", "1"]},
            mode="IMPLEMENTATION",
            folders=True,
            extra={"links": ["x"]},
        ),
        "bare": Project("bare"),
        "closed": Project("closed", folders=False),
    },
    flags={"beta": False},
    export_folders=(Path("/exports"),),
    docs_root=Path("/shared"),
    extra={"team": {"lead": "ana"}},
)


@pytest.fixture
def file(tmp_path: Path) -> ConfigurationFile:
    return ConfigurationFile(tmp_path / "folder" / "guide.yaml")


def put(file: ConfigurationFile, text: str) -> None:
    file.path.parent.mkdir(exist_ok=True)
    file.path.write_text(text, encoding="utf-8")


# --- reading and writing ------------------------------------------------------------------------------


@pytest.mark.requirement("GUI-4")
def test_reading_creates_nothing(file: ConfigurationFile):
    assert file.read() == Configuration()
    assert not file.path.parent.exists()


def test_a_written_configuration_is_read_back(file: ConfigurationFile):
    assert file.change(lambda _: WHOLE) == WHOLE
    assert ConfigurationFile(file.path).read() == WHOLE


def test_defaults_are_not_written(file: ConfigurationFile):
    file.change(lambda before: changes.set_feature_flag(before, "beta", True))
    file.change(lambda before: changes.clone_project(before, "default", "app"))
    assert file.path.read_text(encoding="utf-8") == "flags:\n  beta: true\nprojects:\n  app: {}\n"


def test_a_category_from_a_folder_is_not_written(file: ConfigurationFile):
    lang = Category("lang", "lang", from_folder=True)
    file.change(lambda before: changes.with_project(before, Project("app", categories={"lang": lang})))
    assert file.read().projects == {"app": Project("app")}


def test_a_file_that_has_not_changed_is_not_read_again(file: ConfigurationFile):
    put(file, "flags: {a: 1}\n")
    assert file.read() is file.read()


def test_a_change_by_hand_is_seen_by_the_next_read(file: ConfigurationFile):
    put(file, "flags: {a: 1}\n")
    assert file.read().flags == {"a": 1}
    put(file, "flags: {a: 2}\n")
    os.utime(file.path, ns=(1, 1))  # the same size, and a clock that went back
    assert file.read().flags == {"a": 2}
    file.path.unlink()
    assert file.read() == Configuration()


def test_a_change_by_hand_between_a_read_and_a_change_is_kept(file: ConfigurationFile):
    put(file, "flags: {a: 1}\n")
    file.read()
    put(file, "flags: {a: 1, by_hand: true}\n")
    file.change(lambda before: changes.set_feature_flag(before, "b", 2))
    assert file.read().flags == {"a": 1, "by_hand": True, "b": 2}


def test_a_change_that_fails_writes_nothing(file: ConfigurationFile):
    def refuse(before: Configuration) -> Configuration:
        raise Conflict("no")

    put(file, "flags: {a: 1} # mine\n")
    with pytest.raises(Conflict):
        file.change(refuse)
    assert file.path.read_text(encoding="utf-8") == "flags: {a: 1} # mine\n"
    assert sorted(path.name for path in file.path.parent.iterdir()) == ["guide.yaml", "guide.yaml.lock"]


def test_an_empty_change_does_not_write_the_file(file: ConfigurationFile):
    put(file, "flags: {a: 1}   # mine\n")
    before = file.path.stat()
    file.change(lambda same: same)
    assert (file.path.stat().st_ino, file.path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_new_file_is_for_its_owner_and_an_old_one_keeps_its_mode(file: ConfigurationFile):
    file.change(lambda before: changes.set_feature_flag(before, "a", 1))
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    file.path.chmod(0o640)
    file.change(lambda before: changes.set_feature_flag(before, "a", 2))
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o640


def test_a_link_to_the_file_stays_a_link(tmp_path: Path):
    real, link = tmp_path / "dotfiles.yaml", tmp_path / "guide.yaml"
    real.write_text("flags: {a: 1}\n", encoding="utf-8")
    link.symlink_to(real)
    ConfigurationFile(link).change(lambda before: changes.set_feature_flag(before, "b", 2))
    assert link.is_symlink()
    assert ConfigurationFile(real).read().flags == {"a": 1, "b": 2}


def test_the_example_in_the_documentation_is_read_as_documented():
    example = ConfigurationFile(Path(__file__).resolve().parents[3] / "examples" / "guide.yml")
    assert example.read() == Configuration(
        projects={
            "shop": Project(
                "shop",
                root=Path("/home/ana/work/shop/docs"),
                folder=Path("/home/ana/work/shop"),
                categories={"style": Category("style", "guidelines/style", ("*.md",), "How code reads here.")},
                collections={
                    "backend": Collection(
                        "backend", ("style", "lang/python+sql"), "Read this before work on the server."
                    )
                },
                flags={"team": "core"},
                mode="PLANNING",
                folders=True,
            )
        },
        flags={"tdd": True},
        export_folders=(Path("/home/ana/exports"),),
        docs_root=Path("/home/ana/guides"),
    )


# --- concurrency --------------------------------------------------------------------------------------

SET_FLAGS = """
import sys
from pathlib import Path
from mcp_guide.configuration import changes
from mcp_guide.configuration.file import ConfigurationFile
file = ConfigurationFile(Path(sys.argv[1]))
sys.stdin.readline()
for name in sys.argv[2:]:
    file.change(lambda before: changes.set_feature_flag(before, name, True))
"""


def test_fifty_changes_by_several_processes_at_once_are_all_kept(file: ConfigurationFile):
    names = [[f"p{process}_{number}" for number in range(10)] for process in range(5)]
    processes = [
        subprocess.Popen([sys.executable, "-c", SET_FLAGS, str(file.path), *some], stdin=subprocess.PIPE)
        for some in names
    ]
    for process in processes:  # all have started before the first one begins
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait(60) for process in processes] == [0] * 5
    assert file.read().flags == {name: True for some in names for name in some}


def test_fifty_changes_by_threads_at_once_are_all_kept(file: ConfigurationFile):
    def set_one(number: int) -> None:
        name = f"flag{number}"
        file.change(lambda before: changes.change_project(before, "default", changes.set_project_flag, name, number))

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(set_one, range(50)))
    assert file.read().projects["default"].flags == {f"flag{number}": number for number in range(50)}


def test_a_reader_sees_only_complete_files_while_others_write(file: ConfigurationFile):
    numbers = list(range(100))
    with ThreadPoolExecutor(2) as pool:
        writing = pool.map(
            lambda number: file.change(lambda before: changes.set_feature_flag(before, "n", number)), numbers
        )
        seen = [ConfigurationFile(file.path).read().flags.get("n", 0) for _ in range(300)]
        list(writing)
    assert set(seen) <= set(numbers)


SET_FLAGS_FOR_EVER = """
import itertools, sys
from pathlib import Path
from mcp_guide.configuration import changes
from mcp_guide.configuration.file import ConfigurationFile
file = ConfigurationFile(Path(sys.argv[1]))
for number in itertools.count():
    file.change(lambda before: changes.set_feature_flag(before, "n", number))
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_and_blocks_nobody(file: ConfigurationFile):
    for before_the_kill in (1, 7, 30):
        command = [sys.executable, "-c", SET_FLAGS_FOR_EVER, str(file.path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            said = [process.stdout.readline() for _ in range(before_the_kill)]
            process.kill()
            said += process.stdout.readlines()
        last = int(next(line for line in reversed(said) if line.endswith("\n")))
        # The last value may have been written but not yet printed.
        assert file.read().flags["n"] in (last, last + 1)
        file.change(lambda before: changes.set_feature_flag(before, "n", -before_the_kill))  # noqa: B023 - called at once
        assert sorted(path.name for path in file.path.parent.iterdir()) == ["guide.yaml", "guide.yaml.lock"]


def test_a_full_disk_leaves_the_file_as_it_was(file: ConfigurationFile, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    put(file, "flags: {a: 1}\n")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match=r"guide\.yaml cannot be written: No space left on device\.$"):
        file.change(lambda before: changes.set_feature_flag(before, "a", 2))
    assert file.path.read_text(encoding="utf-8") == "flags: {a: 1}\n"
    assert sorted(path.name for path in file.path.parent.iterdir()) == ["guide.yaml", "guide.yaml.lock"]


def test_a_lock_that_is_never_released_is_an_error(file: ConfigurationFile, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_module, "LOCK_TIMEOUT", 0.02)
    file.path.parent.mkdir()
    with (
        file_module._locked(file.path.with_name("guide.yaml.lock")),
        pytest.raises(Unavailable, match="has locked"),
    ):
        file.change(lambda before: changes.set_feature_flag(before, "a", 1))
    assert file.change(lambda before: changes.set_feature_flag(before, "a", 1)).flags == {"a": 1}


# --- invalid files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("flags:\n  a: [1\n", 2, "is not valid YAML: "),
        ("flags:\n\ta: 1\n", 2, "is not valid YAML: "),
        ("flags:\n  a: 1\n  b: 2\n  a: 3\n", 4, "is not valid YAML: the name 'a' occurs twice"),
        ("a: 2024-13-01\n", 1, "is not valid YAML: contains an invalid value"),
        ("- 1\n", 1, "the file must be a mapping (name: value), not a list"),
        ("flags: 7\n", 1, "flags must be a mapping (name: value), not an integer"),
        ("flags:\n  a: 1\n  b: {c: 1}\n", 3, "flags.b is not valid. The flag 'b' cannot have the value {'c': 1}"),
        ("flags:\n  b: 2024-01-01\n", 2, "flags.b is not valid. The flag 'b' cannot have the value datetime.date("),
        ("projects:\n  7: {}\n", 1, "projects has the name 7, which is not a string; write it in quotes"),
        ("projects:\n  ok: {}\n  a/b: {}\n", 3, "projects.a/b is not valid. The project name 'a/b' is not valid."),
        ("projects:\n  a:\n    mode: no\n", 3, "projects.a.mode is not valid. The mode False does not exist."),
        ("projects:\n  a:\n    folders: 1\n", 3, "projects.a.folders must be true or false"),
        ("projects:\n  a:\n    docs_root: x\n", 3, "projects.a.docs_root must be an absolute path, not 'x'"),
        ("export_folders:\n- /a\n- b\n", 3, "export_folders.1 must be an absolute path, not 'b'"),
        (
            "projects:\n  a:\n    categories:\n      x:\n        dir: ../y\n",
            5,
            "projects.a.categories.x.dir is not valid. The category folder '../y' is not valid.",
        ),
        (
            "projects:\n  a:\n    categories:\n      x:\n        patterns:\n        - a\n        - 1\n",
            7,
            "projects.a.categories.x.patterns.1 must be a string, not an integer; write it in quotes",
        ),
        (
            "projects:\n  a:\n    categories: {x: {}}\n    collections: {x: {expressions: [x]}}\n",
            4,
            "projects.a.collections.x is also the name of a category; rename one of them",
        ),
        (
            "projects:\n  a:\n    collections:\n      x: {}\n",
            4,
            "projects.a.collections.x.expressions is not valid. A collection needs at least one expression",
        ),
    ],
)
def test_an_invalid_file_is_an_error_with_line_and_field_and_is_not_changed(file: ConfigurationFile, text, line, words):
    put(file, text)
    for attempt in (file.read, lambda: file.change(lambda before: changes.set_feature_flag(before, "a", 1))):
        with pytest.raises(InvalidConfiguration) as raised:
            attempt()
        assert str(raised.value).startswith(f"The configuration is not valid. {file.path}, line {line}: {words}")
        assert raised.value.instruction == f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"
    assert file.path.read_text(encoding="utf-8") == text


def test_a_file_that_is_not_text_is_an_error(file: ConfigurationFile):
    put(file, "")
    file.path.write_bytes(b"flags: \xff")
    with pytest.raises(InvalidConfiguration, match="is not UTF-8 text at byte 7"):
        file.read()


def test_an_unreadable_file_is_not_an_empty_one(tmp_path: Path):
    with pytest.raises(Unavailable, match="cannot be read: Is a directory"):
        ConfigurationFile(tmp_path).read()


# --- files written by hand ----------------------------------------------------------------------------


def test_patterns_that_would_make_every_start_slow_are_an_error_with_the_line(file: ConfigurationFile):
    lines = [f"      c{n}: {{patterns: ['{n}{{{'a' * 400},{'b' * 400}}}{{a,b}}{{a,b}}{{a,b}}']}}" for n in range(100)]
    put(file, "projects:\n  app:\n    categories:\n" + "\n".join(lines) + "\n")
    before = time.process_time()
    with pytest.raises(
        InvalidConfiguration, match=r"line 11: projects.app.categories.c7.patterns is not valid. The pat"
    ):
        file.read()
    assert time.process_time() - before < 3


BY_HAND = """\
# My guides
docs_root: /home/ana/guides   # shared

flags:
  # tried out until June
  beta: true
  gamma: [a,
     b]
team: {lead: ana}  # not ours
projects:
  # the app
  app:
    mode: PLANNING
    categories:
      lang: {dir: lang}   # one file each
      docs:
        dir: docs
        owner: bob

    # after the categories
    collections:
      start: {expressions: [lang, docs]}
  # the other
  other: {}
# the end
"""


def set_mode(project: str, mode: str | None):
    return lambda before: changes.change_project(before, project, replace, mode=mode)


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda c: changes.set_feature_flag(c, "d", 3), "     b]\n", "     b]\n  d: 3\n"),
        (lambda c: changes.set_feature_flag(c, "beta", None), "  beta: true\n", ""),
        (lambda c: changes.set_feature_flag(c, "gamma", "x: y"), "  gamma: [a,\n     b]\n", "  gamma: 'x: y'\n"),
        (set_mode("app", None), "    mode: PLANNING\n", ""),
        (set_mode("app", "CHECK"), "mode: PLANNING", "mode: CHECK"),
        (
            set_mode("other", "CHECK"),
            "  other: {}\n",
            "  other:\n    mode: CHECK\n",
        ),
        (
            set_mode("default", "CHECK"),
            "r: {}\n",
            "r: {}\n  default:\n    mode: CHECK\n",
        ),
        (
            lambda c: changes.change_project(c, "app", changes.change_category, "docs", dir="d"),
            "        dir: docs\n",
            "        dir: d\n",
        ),
        (
            lambda c: changes.change_project(c, "app", changes.remove_collection, "start"),
            "    collections:\n      start: {expressions: [lang, docs]}\n",
            "",
        ),
    ],
)
def test_a_change_keeps_all_other_text_comments_and_unknown_fields(file: ConfigurationFile, change, old, new):
    put(file, BY_HAND)
    file.change(change)
    assert BY_HAND.count(old) == 1
    assert file.path.read_text(encoding="utf-8") == BY_HAND.replace(old, new)


def test_if_the_text_cannot_be_kept_the_data_is(file: ConfigurationFile):
    put(file, "flags: &all {a: 1}\nprojects: {app: {flags: *all, x: 1}}\n")
    file.change(lambda before: changes.set_feature_flag(before, "a", None))
    assert file.read() == Configuration(projects={"app": Project("app", flags={"a": 1}, extra={"x": 1})})


def test_a_file_of_comments_keeps_them(file: ConfigurationFile):
    put(file, "# nothing yet\n")
    file.change(lambda before: changes.set_feature_flag(before, "a", 1))
    assert file.path.read_text(encoding="utf-8") == "# nothing yet\nflags:\n  a: 1\n"


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)
names = st.from_regex(r"[a-c][a-c.-]{0,3}", fullmatch=True)
values = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts, st.lists(texts)
)
flag_sets = st.dictionaries(names, values, max_size=4)
projects = st.dictionaries(
    names,
    st.builds(
        lambda flags, mode, described: Project(
            "x", flags=flags, mode=mode, categories={"k": Category("k", "k", description=described)}, folders=False
        ),
        flag_sets,
        st.sampled_from(["DISCUSSION", "CHECK"]),
        texts.map(lambda text: text or None),
    ),
    max_size=3,
).map(lambda some: {name: changes.replace(project, name=name) for name, project in some.items()})
configurations = st.builds(Configuration, projects=projects, flags=flag_sets)


@settings(max_examples=examples(200))
@given(configurations, configurations, st.booleans())
def test_any_change_is_read_back(before, after, as_one_line):
    text = yaml_text.dump(data.to_data(before))
    if as_one_line:
        text = yaml_text.yaml.safe_dump(data.to_data(before), default_flow_style=True)
    assert data.from_data(yaml_text.load(data.revise_text(text, before, after))) == after
