"""The servers of this project follow the rules."""

import pytest

from mcp_core import Settings
from toolcharter.local import targets
from toolcharter.local.app_verification import server_from_app
from toolcharter.verify.engine import run_rules, server_from_tools
from toolcharter.verify.rules import static_rules

IGNORED = {("CHA009", "export_content")}
"""pyproject.toml says why."""
RULES = [rule for rule in static_rules() if rule.family in ("security", "charter")]


@pytest.mark.parametrize("descriptions", ["compact", "full"])
@pytest.mark.parametrize("name", sorted(targets.known()))
def test_a_server_of_ours_has_no_finding_in_the_process_or_on_the_wire(name, descriptions):
    app = targets.load_any(name, Settings(descriptions=descriptions))
    for server in (server_from_app(app, name=name), server_from_tools(app.list_tools(), name)):
        findings = run_rules(server, RULES)
        assert [finding for finding in findings if (finding.rule, finding.tool) not in IGNORED] == []
