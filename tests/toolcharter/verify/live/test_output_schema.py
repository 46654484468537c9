"""Answers held against their output schemas, where the client has not done it already."""

import pytest

from mcp_core.calling.records import Answer
from toolcharter.verify.engine import example_server, verify_live
from toolcharter.verify.live.output_schema import RULE
from toolcharter.verify.observed import Exchange, Observed

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def found(answer, schema):
    exchange = Exchange("list_notes", "valid", {}, answer=answer)
    server = example_server([{"outputSchema": schema}])
    return [finding.message for finding in verify_live(server, Observed([exchange]), [RULE])]


@pytest.mark.parametrize(
    ("answer", "schema", "expected"),
    [
        (Answer("", structured={"n": 1}), SCHEMA, []),
        (Answer("", structured={"n": "1"}), SCHEMA, ["$.n: '1' is not of type 'integer'"]),
        (Answer("", structured={}), SCHEMA, ["$: 'n' is a required property"]),
        (Answer(""), SCHEMA, ["there is no structuredContent"]),
        (Answer("No such folder.", is_error=True), SCHEMA, []),
        (None, SCHEMA, []),
    ],
)
def test_an_answer_is_held_against_the_schema(answer, schema, expected):
    assert found(answer, schema) == [f"the answer to a valid call does not fit: {message}" for message in expected]


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"$ref": "#/nowhere"}, {"properties": 3}])
def test_a_schema_that_cannot_be_used_is_said_to_be_so(schema):
    (message,) = found(Answer("", structured={"n": 1}), schema)
    assert message.startswith("the answer to a valid call does not fit: the schema cannot be used")
