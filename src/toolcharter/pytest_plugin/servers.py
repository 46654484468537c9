"""The tests of the servers that a conftest.py names: each declared example, and each rule that finds something."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from mcp_core.app import App
from mcp_core.declare.spec import Example, ToolSpec
from mcp_core.settings.model import Settings
from toolcharter.local import targets
from toolcharter.local.app_verification import verify_app
from toolcharter.local.examples import declared_examples, run_example
from toolcharter.pytest_plugin.named import servers_in
from toolcharter.verify.config import InvalidConfig
from toolcharter.verify.report.groups import by_rule, line_of
from toolcharter.verify.rule import Finding


@cache
def _settings() -> Settings:
    """The settings without a database that the environment names: it has real data."""
    return Settings(db=None)


class ServersFile(pytest.File):
    """A conftest.py that names servers."""

    def collect(self) -> Iterator["ServerCollector"]:
        """One collector for each server."""
        for target in servers_in(self.path, self.config):
            yield cast(Any, ServerCollector).from_parent(self, name=target)


class ServerCollector(pytest.Collector):
    """The tests of one server."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each example, and one for each rule that finds something."""
        app = self.build(_settings())
        for spec, example in declared_examples(app):
            item: ExampleItem = cast(Any, ExampleItem).from_parent(self, name=f"{spec.name}: {example.description}")
            item.server, item.spec, item.example = self, spec, example
            yield item
        yield from self.collect_findings(app)

    def collect_findings(self, app: App) -> Iterator["FindingsItem"]:
        """A failing test for each rule with findings that count, or one passing test if there are none."""
        try:
            found = by_rule(verify_app(app, self.config.rootpath, self.name).failures)
        except InvalidConfig as error:
            raise self.CollectError(str(error)) from None
        for rule, findings in found.items() or [("", [])]:
            name = f"verify: {rule} {findings[0].name}" if findings else "verify"
            item: FindingsItem = cast(Any, FindingsItem).from_parent(self, name=name)
            item.server, item.findings = self, findings
            yield item

    def build(self, settings: Settings) -> App:
        """Build the server. The path of a file is relative to the conftest.py that names it."""
        target = str(self.path.parent / self.name) if ".py" in self.name else self.name
        return targets.load(target, settings)


class ServerItem(pytest.Item):
    """A test of one server. A ServerTestFailed is shown as its sentences, without a traceback."""

    server: ServerCollector

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The text of a failure."""
        return (
            str(excinfo.value) if isinstance(excinfo.value, ServerTestFailed) else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The file, line and name that pytest shows for the test."""
        return self.path, None, f"{self.server.name} {self.name}"


class ExampleItem(ServerItem):
    """Runs one example through the pipeline."""

    spec: ToolSpec
    example: Example

    def runtest(self) -> None:
        """Fail with one sentence for each difference."""
        result = asyncio.run(run_example(self.server.build, self.spec, self.example, _settings()))
        if not result.ok:
            title = f"The example {self.example.description!r} of {self.spec.name} differs:"
            raise ServerTestFailed("\n".join([title, *result.differences]))


class FindingsItem(ServerItem):
    """Reports the findings of one rule."""

    findings: Sequence[Finding]

    def runtest(self) -> None:
        """Fail with one sentence for each finding, and the fix."""
        if self.findings:
            raise ServerTestFailed("\n".join([*map(line_of, self.findings), self.findings[0].fix]))


class ServerTestFailed(Exception):
    """An example differs, or a rule has findings. The message has one sentence for each."""
