"""Every line of requirements.toml is held by a test, and every mark names a line.

Marks are read from the sources with `ast`, so the answer is the same whichever tests are selected.
"""

import ast
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.requirement_outcomes import RequirementOutcomes

TESTS = Path(__file__).resolve().parent
OWN_COPY = TESTS / "requirements.toml"
ORIGINAL = TESTS.parent.parent / "shared" / "requirements.toml"

# Lines whose server or command does not exist yet. Take a line out with the first test that holds it.
PENDING: frozenset[str] = frozenset({
    *(f"APP-{n}" for n in range(1, 4)),
    *(f"TRU-{n}" for n in range(1, 5)),
    "FAR-1",
    *(f"TXT-{n}" for n in range(1, 4)),
    "LRN-1",
})  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


# ---- the checks ----------------------------------------------------------------------------------


def requirements_in(text: str) -> dict[str, str]:
    sections = tomllib.loads(text).values()
    return {key: line for section in sections for key, line in section.items() if key != "seed"}


def problems(requirements: Mapping[str, str], marks: Mapping[str, str], pending: Set[str]) -> list[str]:
    """Say what is wrong with the link. `marks` has the id and the place of one test that holds it."""
    return [
        *(
            f"{key} has no test: mark one with @pytest.mark.requirement({key!r}). It says: {line}"
            for key, line in requirements.items()
            if key not in marks and key not in pending
        ),
        *(
            f"{place} is marked with {key}, which is no line of requirements.toml"
            for key, place in marks.items()
            if key not in requirements
        ),
        *(
            f"{key} is pending but {marks[key]} holds it: remove {key} from PENDING in test_requirements.py"
            for key in sorted(pending & marks.keys())
        ),
        *(
            f"{key} is pending but is no line of requirements.toml: remove it from PENDING"
            for key in sorted(pending - requirements.keys())
        ),
    ]


def lost_lines(own: Mapping[str, str], original: Mapping[str, str]) -> list[str]:
    return [f"{key} = {line}" for key, line in original.items() if own.get(key) != line]


# ---- reading the marks ---------------------------------------------------------------------------


def marks_in(sources: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each marked id to a test that holds it, from (file name, source) pairs."""
    marks: dict[str, str] = {}
    for name, source in sources:
        if "requirement" not in source:
            continue
        module = ast.parse(source, filename=name)
        counted: set[ast.Call] = set()
        for test, given in each_test(module):
            calls = [call for node in given for call in requirement_calls(node)]
            counted.update(calls)
            if any(is_switched_off(node) for node in given):
                continue
            for call in calls:
                for key in ids_of(call, name):
                    marks.setdefault(key, f"{name}::{test.name}")
        for stray in set(requirement_calls(module)) - counted:
            raise ValueError(f"{name}:{stray.lineno}: this requirement mark is on nothing that is a test")
    return marks


def each_test(
    scope: ast.Module | ast.ClassDef, inherited: tuple[ast.expr, ...] = ()
) -> Iterator[tuple[Function, tuple[ast.expr, ...]]]:
    """Yield each test function with its decorators, those of its classes, and `pytestmark` around it."""
    for statement in scope.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=ast.List(elts=marks)):
                inherited += tuple(marks)
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=mark):
                inherited += (mark,)
    for statement in scope.body:
        if isinstance(statement, Function) and statement.name.startswith("test"):
            yield statement, (*inherited, *statement.decorator_list)
        elif isinstance(statement, ast.ClassDef) and statement.name.startswith("Test"):
            yield from each_test(statement, (*inherited, *statement.decorator_list))


def requirement_calls(node: ast.AST) -> Iterator[ast.Call]:
    """Find the calls of `pytest.mark.requirement`, those in `pytest.param(..., marks=...)` included."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Attribute(ast.Attribute(ast.Name("pytest"), "mark"), "requirement")):
                yield inner


def is_switched_off(decorator: ast.expr) -> bool:
    """A test that never runs, or is expected to fail, holds the code to nothing."""
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name in {"pytest.mark.skip", "pytest.mark.xfail"}


def ids_of(call: ast.Call, name: str) -> Iterator[str]:
    if call.keywords or not call.args:
        raise ValueError(f"{name}:{call.lineno}: a requirement mark takes ids, and at least one")
    for argument in call.args:
        match argument:
            case ast.Constant(value=str(key)):
                yield key
            case _:
                raise ValueError(f"{name}:{call.lineno}: a requirement mark takes ids as plain strings")


# ---- this project --------------------------------------------------------------------------------


def test_every_requirement_has_a_test_and_every_mark_a_requirement():
    sources = [
        (path.relative_to(TESTS.parent).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(TESTS.rglob("test_*.py"))
    ]
    requirements = requirements_in(OWN_COPY.read_text(encoding="utf-8"))
    found = problems(requirements, marks_in(sources), PENDING)
    assert not found, "\n" + "\n".join(found)


def test_our_requirements_have_every_line_of_the_original():
    if not ORIGINAL.exists():
        assert os.environ.get("CI") != "true", f"{ORIGINAL.name} must lie in ../shared when CI=true"
        pytest.skip("there is no ../shared/requirements.toml beside this repository to compare with")
    own, original = (requirements_in(path.read_text(encoding="utf-8")) for path in (OWN_COPY, ORIGINAL))
    assert lost_lines(own, original) == []


# ---- the checks themselves, on made-up data ------------------------------------------------------

MADE_UP = {"AAA-1": "It adds.", "AAA-2": "It subtracts."}


def test_a_complete_link_has_no_problems():
    assert problems(MADE_UP, {"AAA-1": "test_a.py::test_add"}, {"AAA-2"}) == []


def test_a_requirement_without_a_test_is_a_problem():
    assert problems(MADE_UP, {"AAA-1": "test_a.py::test_add"}, set()) == [
        "AAA-2 has no test: mark one with @pytest.mark.requirement('AAA-2'). It says: It subtracts."
    ]


def test_a_mark_with_an_unknown_id_is_a_problem():
    marks = {"AAA-1": "test_a.py::test_add", "AAA-2": "test_a.py::test_sub", "BBB-1": "test_b.py::test_b"}
    assert problems(MADE_UP, marks, set()) == [
        "test_b.py::test_b is marked with BBB-1, which is no line of requirements.toml"
    ]


def test_a_pending_requirement_that_has_a_test_is_a_problem():
    marks = {"AAA-1": "test_a.py::test_add", "AAA-2": "test_a.py::test_sub"}
    assert problems(MADE_UP, marks, {"AAA-2"}) == [
        "AAA-2 is pending but test_a.py::test_sub holds it: remove AAA-2 from PENDING in test_requirements.py"
    ]


def test_a_pending_id_that_is_no_requirement_is_a_problem():
    assert problems({}, {}, {"AAA-1"}) == [
        "AAA-1 is pending but is no line of requirements.toml: remove it from PENDING"
    ]


def test_a_changed_or_missing_line_counts_as_lost():
    own = {"AAA-1": "It adds up.", "OWN-1": "More is welcome."}
    assert lost_lines(own, MADE_UP) == ["AAA-1 = It adds.", "AAA-2 = It subtracts."]


def test_marks_are_found_on_functions_classes_modules_and_parameters():
    source = """
pytestmark = [pytest.mark.requirement("AAA-1")]

@pytest.mark.requirement("AAA-2", "AAA-3")
async def test_one(): ...

@pytest.mark.requirement("AAA-4")
class TestMany:
    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("AAA-5"))])
    def test_two(self, n): ...
"""
    assert marks_in([("test_a.py", source)]) == {
        "AAA-1": "test_a.py::test_one",
        "AAA-2": "test_a.py::test_one",
        "AAA-3": "test_a.py::test_one",
        "AAA-4": "test_a.py::test_two",
        "AAA-5": "test_a.py::test_two",
    }


@pytest.mark.parametrize(
    "switch",
    ["@pytest.mark.skip", "@pytest.mark.xfail(reason='later')", "pytestmark = [pytest.mark.skip]"],
)
def test_a_test_that_is_switched_off_holds_nothing(switch: str):
    source = f"{switch}\n@pytest.mark.requirement('AAA-1')\ndef test_one(): ..."
    assert marks_in([("test_a.py", source)]) == {}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("@pytest.mark.requirement('AAA-1')\ndef helper(): ...", "on nothing that is a test"),
        ("@pytest.mark.requirement(WHICH)\ndef test_one(): ...", "ids as plain strings"),
        ("@pytest.mark.requirement()\ndef test_one(): ...", "at least one"),
    ],
)
def test_a_mark_that_cannot_be_read_is_refused(source: str, message: str):
    with pytest.raises(ValueError, match=message):
        marks_in([("test_a.py", source)])


@pytest.mark.parametrize(
    ("outcomes", "ci", "is_failed"),
    [
        (("skipped", "skipped"), "true", True),
        (("skipped", "skipped"), "", False),
        (("skipped", "passed"), "true", False),
        (("failed",), "true", False),
    ],
)
def test_in_ci_a_promise_whose_tests_were_all_skipped_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, outcomes: tuple[str, ...], ci: str, is_failed: bool
):
    monkeypatch.setenv("CI", ci)
    plugin, session = RequirementOutcomes(), SimpleNamespace(config=object(), exitstatus=pytest.ExitCode.OK)
    for outcome in outcomes:
        plugin.pytest_runtest_logreport(
            SimpleNamespace(
                when="call", outcome=outcome, skipped=outcome == "skipped", user_properties=[("requirement", "AAA-1")]
            )
        )
    plugin.pytest_sessionfinish(session)
    assert session.exitstatus == (pytest.ExitCode.TESTS_FAILED if is_failed else pytest.ExitCode.OK)


@pytest.mark.requirement("RES-1")
def test_the_promises_of_a_test_are_written_into_its_report(request: pytest.FixtureRequest):
    assert ("requirement", "RES-1") in request.node.user_properties
