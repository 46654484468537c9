"""The configuration file: real files, real threads, real processes."""

import errno
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_core import Conflict, Unavailable, instructions
from mcp_guide import configuration_changes as changes
from mcp_guide import configuration_data, configuration_file, yaml_text
from mcp_guide.configuration_file import BrokenConfiguration, ConfigurationFile
from mcp_guide.model import Category, Collection, Configuration, Project

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
def test_reading_makes_nothing(file: ConfigurationFile):
    assert file.read() == Configuration()
    assert not file.path.parent.exists()


def test_everything_that_is_written_is_read_again(file: ConfigurationFile):
    assert file.change(lambda _: WHOLE) == WHOLE
    assert ConfigurationFile(file.path).read() == WHOLE


def test_what_is_the_default_is_not_written(file: ConfigurationFile):
    file.change(lambda before: changes.set_feature_flag(before, "beta", True))
    file.change(lambda before: changes.add_project(before, "app"))
    assert file.path.read_text(encoding="utf-8") == "flags:\n  beta: true\nprojects:\n  app: {}\n"


def test_a_category_that_is_there_because_of_a_folder_is_not_written(file: ConfigurationFile):
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


def test_a_change_of_nothing_leaves_the_file_untouched(file: ConfigurationFile):
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


def test_the_example_of_the_documentation_says_what_it_says():
    example = ConfigurationFile(Path(__file__).resolve().parents[2] / "examples" / "guide.yml")
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


# --- many at once -------------------------------------------------------------------------------------

SET_FLAGS = """
import sys
from pathlib import Path
from mcp_guide import configuration_changes as changes
from mcp_guide.configuration_file import ConfigurationFile
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
    for process in processes:  # all are there before one begins
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait(60) for process in processes] == [0] * 5
    assert file.read().flags == {name: True for some in names for name in some}


def test_fifty_changes_by_threads_at_once_are_all_kept(file: ConfigurationFile):
    def set_one(number: int) -> None:
        file.change(lambda before: changes.set_project_flag(before, "default", f"flag{number}", number))

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(set_one, range(50)))
    assert file.read().projects["default"].flags == {f"flag{number}": number for number in range(50)}


def test_who_reads_while_others_write_sees_whole_files(file: ConfigurationFile):
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
from mcp_guide import configuration_changes as changes
from mcp_guide.configuration_file import ConfigurationFile
file = ConfigurationFile(Path(sys.argv[1]))
for number in itertools.count():
    file.change(lambda before: changes.set_feature_flag(before, "n", number))
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_loses_nothing_and_holds_up_nobody(file: ConfigurationFile):
    for before_the_kill in (1, 7, 30):
        command = [sys.executable, "-c", SET_FLAGS_FOR_EVER, str(file.path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            said = [process.stdout.readline() for _ in range(before_the_kill)]
            process.kill()
            said += process.stdout.readlines()
        last = int(next(line for line in reversed(said) if line.endswith("\n")))
        # One that was written and not yet spoken of is there as well.
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


def test_another_process_that_never_lets_go_is_named(file: ConfigurationFile, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(configuration_file, "PATIENCE", 0.02)
    file.path.parent.mkdir()
    with (
        configuration_file._locked(file.path.with_name("guide.yaml.lock")),
        pytest.raises(Unavailable, match="is locked"),
    ):
        file.change(lambda before: changes.set_feature_flag(before, "a", 1))
    assert file.change(lambda before: changes.set_feature_flag(before, "a", 1)).flags == {"a": 1}


# --- broken files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("flags:\n  a: [1\n", 2, "is no YAML: "),
        ("flags:\n\ta: 1\n", 2, "is no YAML: "),
        ("flags:\n  a: 1\n  b: 2\n  a: 3\n", 4, "is no YAML: the name 'a' is written twice"),
        ("a: 2024-13-01\n", 1, "is no YAML: holds a value that cannot be read"),
        ("- 1\n", 1, "the file should be names with values (name: value), not a list"),
        ("flags: 7\n", 1, "flags should be names with values (name: value), not a int"),
        ("flags:\n  a: 1\n  b: {c: 1}\n", 3, "flags.b is wrong. The flag 'b' cannot be {'c': 1}"),
        ("flags:\n  b: 2024-01-01\n", 2, "flags.b is wrong. The flag 'b' cannot be datetime.date(2024, 1, 1)"),
        ("projects:\n  7: {}\n", 1, "projects has the name 7, which is no text; write it in quotes"),
        ("projects:\n  ok: {}\n  a/b: {}\n", 3, "projects.a/b is wrong. A project cannot be named 'a/b'"),
        ("projects:\n  a:\n    mode: no\n", 3, "projects.a.mode is wrong. There is no mode False"),
        ("projects:\n  a:\n    folders: 1\n", 3, "projects.a.folders should be true or false"),
        ("projects:\n  a:\n    docs_root: x\n", 3, "projects.a.docs_root should be an absolute path, not 'x'"),
        ("export_folders:\n- /a\n- b\n", 3, "export_folders.1 should be an absolute path, not 'b'"),
        (
            "projects:\n  a:\n    categories:\n      x:\n        dir: ../y\n",
            5,
            "projects.a.categories.x.dir is wrong. '../y' cannot be the folder of a category",
        ),
        (
            "projects:\n  a:\n    categories:\n      x:\n        patterns:\n        - a\n        - 1\n",
            7,
            "projects.a.categories.x.patterns.1 should be a text, not a int; write it in quotes",
        ),
        (
            "projects:\n  a:\n    categories: {x: {}}\n    collections: {x: {expressions: [x]}}\n",
            4,
            "projects.a.collections.x is the name of a category too; rename one of them",
        ),
        (
            "projects:\n  a:\n    collections:\n      x: {}\n",
            4,
            "projects.a.collections.x.expressions is wrong. A collection names at least one expression",
        ),
    ],
)
def test_a_broken_file_is_named_with_line_and_field_and_left_alone(file: ConfigurationFile, text, line, words):
    put(file, text)
    for attempt in (file.read, lambda: file.change(lambda before: changes.set_feature_flag(before, "a", 1))):
        with pytest.raises(BrokenConfiguration) as raised:
            attempt()
        assert str(raised.value).startswith(f"The configuration cannot be used. {file.path}, line {line}: {words}")
        assert raised.value.instruction == f"{instructions.PRESENT_ERROR} {instructions.NO_AUTOMATIC_FIX}"
    assert file.path.read_text(encoding="utf-8") == text


def test_a_file_that_is_no_text_is_named_too(file: ConfigurationFile):
    put(file, "")
    file.path.write_bytes(b"flags: \xff")
    with pytest.raises(BrokenConfiguration, match="is not UTF-8 text at byte 7"):
        file.read()


def test_could_not_look_is_not_nothing_there(tmp_path: Path):
    with pytest.raises(Unavailable, match="cannot be read: Is a directory"):
        ConfigurationFile(tmp_path).read()


# --- what people wrote by hand ------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda c: changes.set_feature_flag(c, "d", 3), "     b]\n", "     b]\n  d: 3\n"),
        (lambda c: changes.set_feature_flag(c, "beta", None), "  beta: true\n", ""),
        (lambda c: changes.set_feature_flag(c, "gamma", "x: y"), "  gamma: [a,\n     b]\n", "  gamma: 'x: y'\n"),
        (lambda c: changes.set_mode(c, "app", "DISCUSSION"), "    mode: PLANNING\n", ""),
        (lambda c: changes.set_mode(c, "app", "CHECK"), "mode: PLANNING", "mode: CHECK"),
        (lambda c: changes.set_mode(c, "other", "CHECK"), "  other: {}\n", "  other:\n    mode: CHECK\n"),
        (lambda c: changes.set_mode(c, "default", "CHECK"), "r: {}\n", "r: {}\n  default:\n    mode: CHECK\n"),
        (
            lambda c: changes.change_project(c, "app", lambda p: changes.change_category(p, "docs", dir="d")),
            "        dir: docs\n",
            "        dir: d\n",
        ),
        (
            lambda c: changes.change_project(c, "app", lambda p: changes.remove_collection(p, "start")),
            "    collections:\n      start: {expressions: [lang, docs]}\n",
            "",
        ),
    ],
)
def test_a_change_keeps_every_other_word_comment_and_unknown_key(file: ConfigurationFile, change, old, new):
    put(file, BY_HAND)
    file.change(change)
    assert BY_HAND.count(old) == 1
    assert file.path.read_text(encoding="utf-8") == BY_HAND.replace(old, new)


def test_where_the_text_cannot_be_kept_the_data_is(file: ConfigurationFile):
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


@settings(max_examples=200, deadline=None)
@given(configurations, configurations, st.booleans())
def test_whatever_is_changed_is_what_is_read_afterwards(before, after, as_one_line):
    text = yaml_text.dump(configuration_data.data_of(before))
    if as_one_line:
        text = yaml_text.yaml.safe_dump(configuration_data.data_of(before), default_flow_style=True)
    assert (
        configuration_data.configuration_from(yaml_text.load(configuration_data.revised(text, before, after))) == after
    )
