"""For pytest: one line in a project's conftest.py makes each declared example of its servers a test.

Each rule of `toolcharter verify` that finds something is a failing test beside them.

    toolcharter_servers = ["my_package.app:build"]    # names of installed servers, files or module:object

The tests stand below that conftest.py: `pytest tests/conftest.py` runs nothing else.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_core.app import App
from mcp_core.declare.spec import Example, ToolSpec
from mcp_core.settings import Settings
from toolcharter import targets
from toolcharter.examples import declared, try_example
from toolcharter.verify.config import BadConfig
from toolcharter.verify.outcome import held_to_the_project
from toolcharter.verify.report.groups import by_rule, told
from toolcharter.verify.rule import Finding

LINE = "toolcharter_servers"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Pytest asks this of each file."""
    if file_path.name != "conftest.py" or not _named_in(file_path, parent.config):
        return None
    return cast(Any, Servers).from_parent(parent, path=file_path)


def _named_in(conftest: Path, config: pytest.Config) -> list[str]:
    """The servers that a conftest.py names; pytest has loaded it already."""
    modules = [p for p in config.pluginmanager.get_plugins() if getattr(p, "__file__", None) == str(conftest)]
    return list(getattr(modules[0], LINE, [])) if modules else []


class Servers(pytest.File):
    """The servers that a conftest.py names."""

    def collect(self) -> Iterator["Server"]:
        """One after the other."""
        for target in _named_in(self.path, self.config):
            yield cast(Any, Server).from_parent(self, name=target)


class Server(pytest.Collector):
    """What is tested of one server."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each example, and one for each rule that finds something."""
        app = self.build(_SETTINGS)
        for spec, example in declared(app):
            item: ExampleItem = cast(Any, ExampleItem).from_parent(self, name=f"{spec.name}: {example.description}")
            item.server, item.spec, item.example = self, spec, example
            yield item
        yield from self.verified(app)

    def verified(self, app: App) -> Iterator["FindingsItem"]:
        """A failing test for each rule that finds something which counts; a passing one where none does."""
        try:
            found = by_rule(held_to_the_project(app, self.config.rootpath, self.name).failures)
        except BadConfig as error:
            raise self.CollectError(str(error)) from None
        for rule, findings in found.items() or [("", [])]:
            name = f"verify: {rule} {findings[0].name}" if findings else "verify"
            item: FindingsItem = cast(Any, FindingsItem).from_parent(self, name=name)
            item.server, item.findings = self, findings
            yield item

    def build(self, settings: Settings) -> App:
        """The server. A file is looked for beside the conftest.py that names it."""
        target = str(self.path.parent / self.name) if ".py" in self.name else self.name
        return targets.load(target, settings)


_SETTINGS = Settings(db=None)
"""A database that the environment names is in use."""


class ExampleItem(pytest.Item):
    """One example, run through the pipeline."""

    server: Server
    spec: ToolSpec
    example: Example

    def runtest(self) -> None:
        """Fails with one sentence for each difference."""
        outcome = asyncio.run(try_example(self.server.build, self.spec, self.example, _SETTINGS))
        if not outcome.ok:
            raise ExampleDiffers("\n".join(outcome.differences))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The sentences; a stack only for what is no difference."""
        if isinstance(excinfo.value, ExampleDiffers):
            return f"The example {self.example.description!r} of {self.spec.name} differs:\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands, for the one who reads a failure."""
        return self.path, None, f"{self.server.name} {self.name}"


class ExampleDiffers(Exception):
    """The sentences that say how."""


class FindingsItem(pytest.Item):
    """What one rule found."""

    server: Server
    findings: Sequence[Finding]

    def runtest(self) -> None:
        """Fails with one sentence for each finding, and how to mend it."""
        if self.findings:
            lines = [f"{one.tool or 'the server'}: {told(one)}" for one in self.findings]
            raise Found("\n".join([*lines, self.findings[0].fix]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The sentences."""
        return str(excinfo.value) if isinstance(excinfo.value, Found) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands, for the one who reads a failure."""
        return self.path, None, f"{self.server.name} {self.name}"


class Found(Exception):
    """The sentences that say what."""
