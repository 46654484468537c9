"""Errors that are not the server's own are reported once, and not judged."""

import pytest

from mcp_core.calling.records import Answer
from toolcharter.verify.live.environment import unjudged_tools
from toolcharter.verify.live.observations import Exchange, Observations
from toolcharter.verify.live.summary import live_notes

BROWSER = "browserType.launch: Executable doesn't exist at /root/.cache/chrome\nPlease run: npx playwright install"


def call(tool, kind, text, *, failed=True):
    return Exchange(tool, kind, {}, answer=Answer(text, is_error=failed))


@pytest.mark.parametrize(
    "text",
    [
        BROWSER,
        "Error: Chromium is not installed",
        "spawn docker ENOENT",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "getaddrinfo ENOTFOUND api.example.com",
        "[Errno -2] Name or service not known",
        "BRAVE_API_KEY environment variable is required",
        "Missing API key. Get one at https://example.com",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "bash: ffmpeg: command not found",
    ],
)
def test_a_cause_outside_the_server_is_recognized(text):
    assert unjudged_tools([call("get", "valid", text)]) == {"get": text.splitlines()[0]}


@pytest.mark.parametrize(
    "text",
    [
        "No note 'example' exists.",
        "'key' is required",
        "The folder example was not found.",
        "Internal error",
        "ENOENT: no such file or directory, open '/example'",
        "git branch 'example' not found",
        "Please run list_notes first.",
        "token is too long",
        "Traceback (most recent call last)",
    ],
)
def test_other_errors_are_judged(text):
    assert unjudged_tools([call("get", "valid", text)]) == {}


def test_valid_calls_decide_if_there_are_any():
    assert unjudged_tools([call("get", "valid", "fine", failed=False), call("get", "missing", BROWSER)]) == {}
    assert unjudged_tools([call("get", "valid", BROWSER, failed=False)]) == {}
    assert list(unjudged_tools([call("get", "missing", BROWSER)])) == ["get"]


def test_each_cause_is_one_sentence():
    unjudged = dict.fromkeys(["click", "open", "type"], "Executable doesn't exist") | {"search": "Missing API key"}
    observations = Observations(called=frozenset({"list"}), unjudged=unjudged, ran_out_of_time=True)
    assert live_notes(observations, 8) == [
        "Called 5 of 8 tools.",
        "The others were left out, because the calls took too long.",
        'Not judged, because of an error outside the server: click and 2 more: "Executable doesn\'t exist"',
        "Not judged, because of an error outside the server: search: 'Missing API key'",
    ]
