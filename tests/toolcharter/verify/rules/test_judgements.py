"""The findings on other people's tools that were judged by reading."""

import json
from collections import Counter
from pathlib import Path

from toolcharter.verify.rules import static_rules

JUDGEMENTS = Path(__file__).parents[4] / "docs" / "rule-judgements.jsonl"
SEVERITIES = {rule.id: rule.severity for rule in static_rules()}


def judged():
    return [json.loads(line) for line in JUDGEMENTS.read_text(encoding="utf-8").splitlines()]


def test_each_judgement_has_a_verdict_and_a_reason():
    assert [one for one in judged() if not isinstance(one["right"], bool) or not one["why"]] == []


def test_a_judged_rule_still_has_the_severity_it_was_judged_with():
    """A rule that was made a note, or an error, needs a new sample."""
    assert [one for one in judged() if SEVERITIES.get(one["rule"]) != one["severity"]] == []


def test_no_finding_is_judged_twice():
    places = Counter((one["server"], one["tool"], one["rule"], one["path"]) for one in judged())
    assert [place for place, count in places.items() if count > 1] == []
