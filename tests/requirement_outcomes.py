"""Where CI is true, a promise all of whose tests were skipped fails the run: nothing has proven it."""

import os
from collections.abc import Iterable, Mapping

import pytest

PROPERTY = "requirement"


class RequirementOutcomes:
    """Collects the outcome of each test that holds a promise, also from the processes of xdist."""

    def __init__(self) -> None:
        self._outcomes: dict[str, set[str]] = {}

    def pytest_collection_modifyitems(self, items: Iterable[pytest.Item]) -> None:
        """Write the promises of each test into its report."""
        for item in items:
            keys = {key for mark in item.iter_markers("requirement") for key in mark.args}
            item.user_properties += [(PROPERTY, key) for key in sorted(keys)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome of a test: skipped in its set-up or its call, or not."""
        if report.when == "call" or report.skipped:
            for name, key in report.user_properties:
                if name == PROPERTY:
                    self._outcomes.setdefault(str(key), set()).add(report.outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the promises that nothing has proven."""
        for key in unproven(self._outcomes) if is_strict() else ():
            terminalreporter.write_line(f"{key}: all its tests were skipped, so nothing proves it.", red=True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run."""
        if is_strict() and unproven(self._outcomes) and not hasattr(session.config, "workerinput"):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def is_strict() -> bool:
    """Whether every promise must be proven here: in CI, where everything is installed."""
    return os.environ.get("CI") == "true"


def unproven(outcomes: Mapping[str, set[str]]) -> list[str]:
    """The promises whose tests were all skipped."""
    return sorted(key for key, found in outcomes.items() if found == {"skipped"})
