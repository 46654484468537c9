from pathlib import Path

import pytest

from mcp_core import Conflict, NotFound
from mcp_guide.active_project import MOST_SESSIONS, Active, ActiveProject
from mcp_guide.model import Configuration, Project


def configured(**folders: Path | None) -> Configuration:
    return Configuration(projects={name: Project(name, folder=folder) for name, folder in folders.items()})


def test_who_says_nothing_means_the_default_project(tmp_path: Path):
    assert ActiveProject(folder=tmp_path).find(Configuration()) == Active(Project("default"), "default")


def test_what_decides_comes_in_order(tmp_path: Path):
    work, other = tmp_path / "work", tmp_path / "other"
    configuration = configured(a=None, b=None, c=None, r=other, w=work)
    active = ActiveProject("c", work)
    active.choose(configuration, "b", "session")
    without_option = ActiveProject(folder=work)
    found = [
        active.find(configuration, "a", "session", [other]),
        active.find(configuration, None, "session", [other]),
        active.find(configuration, None, "another session", [other]),
        without_option.find(configuration, roots=[tmp_path, other]),
        without_option.find(configuration, roots=[tmp_path]),
        ActiveProject(folder=tmp_path).find(configuration),
    ]
    assert [(one.project.name, one.by) for one in found] == [
        ("a", "argument"),
        ("b", "set_project"),
        ("c", "option"),
        ("r", "roots"),
        ("w", "folder"),
        ("default", "default"),
    ]


@pytest.mark.requirement("GUI-4")
def test_a_name_that_leads_nowhere_is_an_error_and_no_other_project(tmp_path: Path):
    active = ActiveProject("gone", tmp_path)
    configuration = configured(a=tmp_path)
    for named in ("lost", None):
        with pytest.raises(NotFound) as raised:
            active.find(configuration, named)
        assert raised.value.instruction.endswith("Do not attempt to create a default configuration automatically.")


@pytest.mark.requirement("GUI-4")
def test_a_project_that_is_not_there_is_neither_chosen_nor_made(tmp_path: Path):
    active, configuration = ActiveProject(folder=tmp_path), configured(a=None)
    active.choose(configuration, "a")
    with pytest.raises(NotFound):
        active.choose(configuration, "b")
    assert active.find(configuration) == Active(Project("a"), "set_project")
    with pytest.raises(NotFound):  # it was removed in the meantime
        active.find(Configuration())


def test_the_nearest_folder_around_the_work_decides(tmp_path: Path):
    configuration = configured(outer=tmp_path, inner=tmp_path / "a" / "b")
    deep = tmp_path / "a" / "b" / "c"
    assert ActiveProject(folder=deep).find(configuration).project.name == "inner"
    assert ActiveProject(folder=deep.parent.parent).find(configuration).project.name == "outer"


def test_two_folders_of_one_name_stay_two_projects(tmp_path: Path):
    one, two, three = tmp_path / "x" / "app", tmp_path / "y" / "app", tmp_path / "z" / "app"
    configuration = configured(app=one, **{"app-2": two})
    assert [ActiveProject(folder=folder).find(configuration).project.name for folder in (one, two, three)] == [
        "app",
        "app-2",
        "default",
    ]


def test_a_link_leads_to_the_same_project(tmp_path: Path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert ActiveProject(folder=link / "x").find(configured(a=real)).project.name == "a"
    assert ActiveProject(folder=real / "x").find(configured(a=link)).project.name == "a"


def test_a_folder_of_two_projects_is_not_guessed(tmp_path: Path):
    with pytest.raises(Conflict, match=r"'a' and 'b' both have the folder .*; say which one with `project`"):
        ActiveProject(folder=tmp_path).find(configured(a=tmp_path, b=tmp_path))


def test_a_changed_configuration_is_looked_at_again(tmp_path: Path):
    active = ActiveProject(folder=tmp_path)
    assert active.find(configured(a=tmp_path)).project.name == "a"
    assert active.find(configured(b=tmp_path)).project.name == "b"


def test_the_choice_of_a_session_long_past_is_forgotten(tmp_path: Path):
    active, configuration = ActiveProject(folder=tmp_path), configured(a=None)
    for number in range(MOST_SESSIONS + 1):
        active.choose(configuration, "a", f"session {number}")
    assert active.find(configuration, session="session 0").by == "default"
    assert active.find(configuration, session="session 1").by == "set_project"
