"""Challenges in `WWW-Authenticate`."""

import time

import pytest

from mcp_core.auth.oauth.challenge import Challenge, read_challenge


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], Challenge()),
        (["Bearer"], Challenge()),
        (['Bearer resource_metadata="https://a/b", scope="x y"'], Challenge("https://a/b", ("x", "y"))),
        (["bearer error=insufficient_scope, scope=x"], Challenge(None, ("x",), "insufficient_scope")),
        (['Basic realm="Bearer scope=\\"no\\"", Bearer scope="yes"'], Challenge(None, ("yes",))),
        (['Bearer realm="a, b", scope="x", Basic realm="y", scope="no"'], Challenge(None, ("x",))),
        (["Negotiate abc==", 'Bearer error="invalid_token"'], Challenge(None, (), "invalid_token")),
        (['Bearer scope="never closed'], Challenge()),
        (["=,=,,Bearer ,= " + "x" * 20_000], Challenge()),
    ],
)
def test_a_challenge_is_read_among_others(values: list[str], expected: Challenge):
    assert read_challenge(values) == expected


@pytest.mark.parametrize("text", ["Bearer" + " " * 8000, "Bearer " + "a=" * 4000, "a!" * 4000, 'Bearer a="\\" ' * 800])
def test_a_challenge_takes_linear_time_to_read(text: str):
    began = time.process_time()
    for _ in range(10):
        read_challenge([text])
    assert time.process_time() - began < 1  # one of 4,000 spaces took minutes
