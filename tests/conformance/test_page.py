"""What counts, on made-up results of the suite."""

from tests.conformance.page import Scenario, cell, failures, page
from tests.conformance.real_clients import Attempt


def scenario(**statuses: str) -> Scenario:
    checks = [{"id": name.replace("_", "-"), "status": status} for name, status in statuses.items()]
    return Scenario([check | {"errorMessage": "wrong"} for check in checks])


def tables(name: str, ours: Scenario, sdk: Scenario) -> dict[str, dict[str, dict[str, Scenario]]]:
    columns = {column: {name: ours} for column in ("plain", "asking", "governed")}
    return {"2026-07-28": {**columns, "sdk": {name: sdk}}}


GOOD, BAD, ADVICE = scenario(one="SUCCESS"), scenario(one="FAILURE"), scenario(one="WARNING")


def test_what_fails_here_and_passes_there_is_a_failure():
    assert failures(tables("ping", BAD, GOOD)) == [
        "2026-07-28, plain, ping: one: wrong",
        "2026-07-28, asking, ping: one: wrong",
        "2026-07-28, governed, ping: one: wrong",
    ]


def test_what_fails_there_too_or_is_only_advice_is_none():
    assert failures(tables("ping", BAD, BAD)) == []
    assert failures(tables("ping", ADVICE, GOOD)) == []


def test_what_no_app_has_is_not_offered_even_where_the_suite_is_content():
    assert cell("plain", "tools-call-sampling", GOOD) == "not offered"
    assert cell("asking", "tools-call-sampling", BAD) == "not offered"
    assert failures(tables("logging-set-level", BAD, GOOD)) == []


def test_the_governor_is_judged_by_what_it_passes_on():
    assert cell("governed", "completion-complete", BAD) == "**failed** (1 of 1)"
    assert cell("governed", "tools-call-sampling", BAD) == "not offered"
    assert failures(tables("tasks-wire-fields", BAD, GOOD)) == [
        "2026-07-28, asking, tasks-wire-fields: one: wrong",
    ]


def test_a_check_that_is_not_offered_does_not_hide_another_that_fails():
    mixed = scenario(sep_2575_missing_capability_http_400="FAILURE", other="FAILURE", fine="SUCCESS")
    assert cell("plain", "caching", mixed) == "**failed** (1 of 2), 1 not offered"


def test_only_the_plain_fixture_is_excused_from_asking():
    assert cell("plain", "tools-call-elicitation", BAD) == "asks nobody"
    assert cell("asking", "tools-call-elicitation", BAD) == "**failed** (1 of 1)"


def test_the_page_shows_a_client_that_fails():
    text = page(tables("ping", GOOD, GOOD), [Attempt("Inspector", "stdio", "legacy", "no answer")], {"suite": "1"})
    assert "| ping | passed (1) | passed (1) | passed (1) | passed (1) |  |" in text
    assert "| Inspector | stdio | legacy | **no** |" in text
