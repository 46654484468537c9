from pathlib import Path

import pytest

from tools.tests_of import ROOT, find_by_import, find_by_name, folders_of


def test_each_module_has_a_test_of_its_name_or_a_folder_of_tests_for_its_room_or_the_one_above():
    modules = [path for path in (ROOT / "src").rglob("*.py") if len(path.relative_to(ROOT / "src").parts) > 1]
    assert len(modules) > 900
    named = {path: find_by_name(path) for path in modules}
    assert [path for path, test in named.items() if test is not None and not test.is_file()] == []
    unnamed = [path for path, test in named.items() if test is None]
    near = {
        path: [folder for folder in list(folders_of(path))[:2] if any(folder.glob("test_*.py"))] for path in unnamed
    }
    assert [path for path in unnamed if not near[path]] == []


def test_each_folder_of_tests_of_a_package_mirrors_a_room():
    folders = {test.parent.relative_to(ROOT / "tests") for test in (ROOT / "tests").rglob("test_*.py")}
    of_packages = [folder for folder in folders if folder.parts and (ROOT / "src" / folder.parts[0]).is_dir()]
    assert len(of_packages) > 50
    assert [folder for folder in of_packages if not (ROOT / "src" / folder).is_dir()] == []


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("mcp_core/calling/bound.py", "tests/mcp_core/calling/test_bound.py"),
        ("toolcharter/console/pages/approvals.py", "tests/toolcharter/console/test_approvals.py"),
        ("mcp_todo/console/pages.py", "tests/toolcharter/console/test_server_pages.py"),
        ("toolcharter/verify/rules/naming/duplicate_name.py", "tests/toolcharter/verify/rules/test_naming.py"),
    ],
)
def test_a_test_is_found_by_the_name_of_its_module_or_room_or_by_a_line_in_it(module: str, test: str):
    assert find_by_name(ROOT / "src" / module) == ROOT / test


def test_the_tests_of_a_module_without_one_of_its_name_are_those_that_import_it():
    assert find_by_import(ROOT / "src/mcp_core/declare/charter.py") != []
    assert Path(__file__) not in find_by_import(ROOT / "src/mcp_core/declare/charter.py")
