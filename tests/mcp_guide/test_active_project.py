from pathlib import Path

import pytest

from mcp_core import Conflict, NotFound
from mcp_guide.active_project import MAX_SESSIONS, ActiveProject, ActiveProjects
from mcp_guide.model import Configuration, Project


def configured(**folders: Path | None) -> Configuration:
    return Configuration(projects={name: Project(name, folder=folder) for name, folder in folders.items()})


def test_without_any_setting_the_default_project_is_active(tmp_path: Path):
    assert ActiveProjects(folder=tmp_path).find(Configuration()) == ActiveProject(Project("default"), "default")


def test_the_sources_of_the_active_project_have_an_order(tmp_path: Path):
    work, other = tmp_path / "work", tmp_path / "other"
    configuration = configured(a=None, b=None, c=None, r=other, w=work)
    active = ActiveProjects("c", work)
    active.select(configuration, "b", "session")
    without_option = ActiveProjects(folder=work)
    found = [
        active.find(configuration, "a", "session", [other]),
        active.find(configuration, None, "session", [other]),
        active.find(configuration, None, "another session", [other]),
        without_option.find(configuration, roots=[tmp_path, other]),
        without_option.find(configuration, roots=[tmp_path]),
        ActiveProjects(folder=tmp_path).find(configuration),
    ]
    assert [(one.project.name, one.reason) for one in found] == [
        ("a", "argument"),
        ("b", "set_project"),
        ("c", "option"),
        ("r", "roots"),
        ("w", "folder"),
        ("default", "default"),
    ]


@pytest.mark.requirement("GUI-4")
def test_an_unknown_name_is_an_error_and_never_another_project(tmp_path: Path):
    active = ActiveProjects("gone", tmp_path)
    configuration = configured(a=tmp_path)
    for named in ("lost", None):
        with pytest.raises(NotFound) as raised:
            active.find(configuration, named)
        assert raised.value.instruction.endswith("Do not attempt to create a default configuration automatically.")


@pytest.mark.requirement("GUI-4")
def test_a_missing_project_is_neither_selected_nor_created(tmp_path: Path):
    active, configuration = ActiveProjects(folder=tmp_path), configured(a=None)
    active.select(configuration, "a")
    with pytest.raises(NotFound):
        active.select(configuration, "b")
    assert active.find(configuration) == ActiveProject(Project("a"), "set_project")
    with pytest.raises(NotFound):  # it was removed in the meantime
        active.find(Configuration())


def test_the_nearest_parent_folder_decides(tmp_path: Path):
    configuration = configured(outer=tmp_path, inner=tmp_path / "a" / "b")
    deep = tmp_path / "a" / "b" / "c"
    assert ActiveProjects(folder=deep).find(configuration).project.name == "inner"
    assert ActiveProjects(folder=deep.parent.parent).find(configuration).project.name == "outer"


def test_two_folders_with_the_same_name_are_two_projects(tmp_path: Path):
    one, two, three = tmp_path / "x" / "app", tmp_path / "y" / "app", tmp_path / "z" / "app"
    configuration = configured(app=one, **{"app-2": two})
    assert [ActiveProjects(folder=folder).find(configuration).project.name for folder in (one, two, three)] == [
        "app",
        "app-2",
        "default",
    ]


def test_a_link_leads_to_the_same_project(tmp_path: Path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert ActiveProjects(folder=link / "x").find(configured(a=real)).project.name == "a"
    assert ActiveProjects(folder=real / "x").find(configured(a=link)).project.name == "a"


def test_a_folder_of_two_projects_is_an_error(tmp_path: Path):
    with pytest.raises(Conflict, match=r"'a' and 'b' both have the folder .*\. Set `project` to one of them"):
        ActiveProjects(folder=tmp_path).find(configured(a=tmp_path, b=tmp_path))


def test_a_changed_configuration_is_used_at_once(tmp_path: Path):
    active = ActiveProjects(folder=tmp_path)
    assert active.find(configured(a=tmp_path)).project.name == "a"
    assert active.find(configured(b=tmp_path)).project.name == "b"


def test_the_oldest_session_is_forgotten(tmp_path: Path):
    active, configuration = ActiveProjects(folder=tmp_path), configured(a=None)
    for number in range(MAX_SESSIONS + 1):
        active.select(configuration, "a", f"session {number}")
    assert active.find(configuration, session="session 0").reason == "default"
    assert active.find(configuration, session="session 1").reason == "set_project"
