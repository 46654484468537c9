"""The pytest plugin, in a project of its own."""

import pytest

from tests import conftest
from tests.toolcharter.commands.test_examples import WRONG
from tests.toolcharter.verify.fake_rules import mentions, rule
from toolcharter.local import app_verification, targets

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project without Hypothesis, which takes longest to load."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\naddopts = -p no:hypothesispytest\n")
    return pytester


def select(project: pytest.Pytester, rule: str) -> None:
    project.makepyprojecttoml(f'[tool.toolcharter.verify]\nselect = ["{rule}"]')


@pytest.mark.requirement("DOC-5")
def test_the_examples_of_every_server_are_tests_of_this_project():
    assert sorted(conftest.toolcharter_servers) == sorted(targets.known())


@pytest.mark.requirement("DOC-5")
def test_one_line_in_a_conftest_makes_each_example_a_test(project: pytest.Pytester):
    select(project, "NAM001")
    project.makepyfile(wrong=WRONG, conftest='toolcharter_servers = ["wrong.py"]', test_own="def test_own(): pass")
    ran = project.runpytest("-q")
    ran.assert_outcomes(passed=3, failed=1)
    assert "The example 'Wrong' of two differs:\nvalue: expected 3, got 2\n" in ran.stdout.str()
    assert "FAILED conftest.py::wrong.py::two: Wrong" in ran.stdout.str()
    project.runpytest("conftest.py", "-k", "Right").assert_outcomes(passed=1, deselected=2)
    project.runpytest("test_own.py").assert_outcomes(passed=1)


def test_without_that_line_there_are_no_other_tests(project: pytest.Pytester):
    project.makepyfile(conftest="", test_own="def test_own(): pass")
    project.runpytest("-q").assert_outcomes(passed=1)


def test_an_unknown_server_is_a_collection_error(project: pytest.Pytester):
    project.makepyfile(conftest='toolcharter_servers = ["nobody"]')
    ran = project.runpytest("-q")
    ran.assert_outcomes(errors=1)
    assert "No server 'nobody' is installed." in ran.stdout.str()


def test_each_rule_that_finds_something_is_a_failing_test(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    said = rule("DSC901", "two-is-said", "description", "warning", mentions("two"))
    noted = rule("DSC902", "anybody-is-said", "description", "note", mentions("anybody"))
    monkeypatch.setattr(app_verification, "static_rules", lambda: (said, noted))
    project.makepyfile(wrong=WRONG, conftest='toolcharter_servers = ["wrong.py"]')
    ran = project.runpytest("-q", "-k", "verify")
    ran.assert_outcomes(failed=1, deselected=2)
    assert "FAILED conftest.py::wrong.py::verify: DSC901 two-is-said" in ran.stdout.str()
    assert "two: two\ntwo: two\nHow to fix DSC901.\n" in ran.stdout.str()
    project.makepyprojecttoml('[tool.toolcharter.verify.servers.wrong]\nignore = { "DSC901" = "two it is" }')
    project.runpytest("-q", "-k", "verify").assert_outcomes(passed=1, deselected=2)


def test_a_server_without_findings_is_one_passing_test(project: pytest.Pytester):
    select(project, "NAM001")
    project.makepyfile(wrong=WRONG, conftest='toolcharter_servers = ["wrong.py"]')
    ran = project.runpytest("-v", "-k", "verify")
    ran.assert_outcomes(passed=1, deselected=2)
    assert "conftest.py::wrong.py::verify PASSED" in ran.stdout.str()


def test_a_mistake_in_the_configuration_is_a_collection_error(project: pytest.Pytester):
    select(project, "duplicate-nam")
    project.makepyfile(wrong=WRONG, conftest='toolcharter_servers = ["wrong.py"]')
    ran = project.runpytest("-q")
    ran.assert_outcomes(errors=1)
    assert "tool.toolcharter.verify: Unknown rule 'duplicate-nam'. Did you mean duplicate-name" in ran.stdout.str()
    assert "Traceback" not in ran.stdout.str()
