import pytest

from mcp_core.calling.records import Answer
from toolcharter.verify.engine import example_server, run_live_rules
from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.rules.live.output_schema_mismatch import RULE

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def found(answer, schema):
    exchange = Exchange("list_notes", "valid", {}, answer=answer)
    server = example_server([{"outputSchema": schema}])
    return [finding.message for finding in run_live_rules(server, Observations([exchange]), [RULE])]


@pytest.mark.parametrize(
    ("answer", "schema", "expected"),
    [
        (Answer("", structured_json='{"n": 1}'), SCHEMA, []),
        (Answer("", structured_json='{"n": "1"}'), SCHEMA, ["$.n: '1' is not of type 'integer'"]),
        (Answer("", structured_json="{}"), SCHEMA, ["$: 'n' is a required property"]),
        (Answer(""), SCHEMA, ["it has no structuredContent"]),
        (Answer("No such folder.", is_error=True), SCHEMA, []),
        (None, SCHEMA, []),
    ],
)
def test_a_result_is_checked_against_the_schema(answer, schema, expected):
    assert found(answer, schema) == [f"the result of a valid call does not match: {message}" for message in expected]


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"$ref": "#/nowhere"}, {"properties": 3}])
def test_a_schema_that_cannot_be_used_is_a_finding(schema):
    (message,) = found(Answer("", structured_json='{"n": 1}'), schema)
    assert message.startswith("the result of a valid call does not match: the schema cannot be used")


def test_a_reference_to_an_address_is_not_fetched(monkeypatch):
    def fetch(*_, **__):
        raise AssertionError("an address was fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetch)
    (message,) = found(Answer("", structured_json='{"n": 1}'), {"$ref": "http://127.0.0.1:1/schema.json"})
    assert "the schema cannot be used: Unresolvable" in message
