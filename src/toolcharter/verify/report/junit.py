"""The report as JUnit XML for CI servers: one test case for each rule."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcp_core.text.plurals import count
from toolcharter.verify.report.groups import by_rule, line_of
from toolcharter.verify.result import VerifyResult
from toolcharter.verify.rule import Finding, Rule
from toolcharter.verify.selection import IgnoredFinding


def render(result: VerifyResult) -> str:
    """A test suite. Findings that do not make the command fail are the output of a passing case."""
    found = by_rule(result.findings)
    failed = {finding.rule for finding in result.failures}
    ignored = {one.finding.rule for one in result.ignored} - found.keys()
    counts = {"tests": str(len(result.rules)), "failures": str(len(failed)), "skipped": str(len(ignored))}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": result.server.name or "server", "errors": "0", **counts})
    for rule in result.rules:
        case = SubElement(
            suite, "testcase", {"classname": f"toolcharter.{rule.family}", "name": f"{rule.id} {rule.name}"}
        )
        _add_findings(
            case, rule, found.get(rule.id, ()), [one for one in result.ignored if one.finding.rule == rule.id], failed
        )
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _clean(tostring(suites, encoding="unicode")) + "\n"


def _add_findings(
    case: Element, rule: Rule, found: Sequence[Finding], ignored: Sequence[IgnoredFinding], failed: set[str]
) -> None:
    if found:
        text = "\n".join(line_of(finding) for finding in found)
        if rule.id in failed:
            failure = SubElement(case, "failure", {"type": rule.severity, "message": count(len(found), "finding")})
            failure.text = f"{text}\n\n{rule.fix}"
        else:
            SubElement(case, "system-out").text = text
    elif ignored:
        SubElement(case, "skipped", {"message": f"{len(ignored)} ignored: {ignored[0].reason}"})


def _clean(text: str) -> str:
    """Replace control characters, which XML does not allow even if escaped."""
    return "".join(character if character in "\t\n" or _allowed(ord(character)) else "\ufffd" for character in text)


def _allowed(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000  # noqa: PLR2004 - from the specification
