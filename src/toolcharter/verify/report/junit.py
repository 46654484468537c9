"""JUnit XML, which every CI server shows: one test case a rule."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from toolcharter.verify.outcome import Outcome
from toolcharter.verify.report.groups import by_rule, many, told
from toolcharter.verify.rule import Finding, Rule
from toolcharter.verify.selection import Ignored


def render(outcome: Outcome) -> str:
    """A suite for the server. Findings that do not make the command fail are output of a passing case."""
    found = by_rule(outcome.findings)
    failed = {finding.rule for finding in outcome.failures}
    ignored = {one.finding.rule for one in outcome.ignored} - found.keys()
    figures = {"tests": str(len(outcome.rules)), "failures": str(len(failed)), "skipped": str(len(ignored))}
    suites = Element("testsuites", figures)
    suite = SubElement(suites, "testsuite", {"name": outcome.server.name or "server", "errors": "0", **figures})
    for rule in outcome.rules:
        case = SubElement(
            suite, "testcase", {"classname": f"toolcharter.{rule.family}", "name": f"{rule.id} {rule.name}"}
        )
        _tell(
            case, rule, found.get(rule.id, ()), [one for one in outcome.ignored if one.finding.rule == rule.id], failed
        )
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _clean(tostring(suites, encoding="unicode")) + "\n"


def _tell(case: Element, rule: Rule, found: Sequence[Finding], ignored: Sequence[Ignored], failed: set[str]) -> None:
    if found:
        text = "\n".join(f"{finding.tool or 'the server'}: {told(finding)}" for finding in found)
        if rule.id in failed:
            failure = SubElement(case, "failure", {"type": rule.severity, "message": many(len(found), "finding")})
            failure.text = f"{text}\n\n{rule.fix}"
        else:
            SubElement(case, "system-out").text = text
    elif ignored:
        SubElement(case, "skipped", {"message": f"{len(ignored)} ignored: {ignored[0].reason}"})


def _clean(text: str) -> str:
    """XML has no place for control characters, not even escaped ones."""
    return "".join(character if character in "\t\n" or _allowed(ord(character)) else "\ufffd" for character in text)


def _allowed(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000  # noqa: PLR2004 - from the specification
