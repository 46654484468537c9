import pytest

from mcp_core import Deprecation, Example, RateLimit, tool
from mcp_core.declare.meta import declared_meta
from mcp_core.declare.spec import Declaration, spec_of
from tests.mcp_core.declared import FULL, function


@pytest.mark.requirement("DEF-1")
def test_the_whole_declaration_is_in_the_metadata_by_the_names_of_the_charter():
    declared = FULL | {
        "version": "1.2.3",
        "rate_limit": RateLimit(max_calls=5, window_ms=1000),
        "deprecated": Deprecation(since="2026-01-01", replacement="other", removal_date="2026-12-31"),
        "examples": [Example("Two", {"a": 2}, (2, "<any>"))],
    }
    assert declared_meta(spec_of(tool(**declared)(function()))) == {
        "dev.toolcharter/version": "1.2.3",
        "dev.toolcharter/category": "query",
        "dev.toolcharter/responseTime": "fast",
        "dev.toolcharter/cacheable": True,
        "dev.toolcharter/cacheTTL": 60,
        "dev.toolcharter/idempotent": True,
        "dev.toolcharter/permissions": ["cards:read"],
        "dev.toolcharter/rateLimit": {"maxCalls": 5, "windowMs": 1000},
        "dev.toolcharter/tags": ["cards"],
        "dev.toolcharter/examples": [{"description": "Two", "params": {"a": 2}, "expectedResult": [2, "<any>"]}],
        "dev.toolcharter/deprecated": {"since": "2026-01-01", "replacement": "other", "removalDate": "2026-12-31"},
    }


def test_what_a_full_declaration_leaves_empty_is_stated_all_the_same():
    declared = FULL | {"permissions": [], "cache_ttl": None}
    meta = declared_meta(spec_of(tool(**declared)(function())))
    assert (meta["dev.toolcharter/permissions"], meta["dev.toolcharter/cacheable"]) == ([], False)
    assert not {"dev.toolcharter/cacheTTL", "dev.toolcharter/rateLimit", "dev.toolcharter/deprecated"} & meta.keys()


@pytest.mark.requirement("AUT-2")
@pytest.mark.parametrize(
    ("declared", "published"),
    [
        ({}, {}),
        ({"tags": ["cards"]}, {"tags": ["cards"]}),
        ({"read_only": True}, {"category": "query", "cacheable": False}),
        ({"category": "mutation"}, {"category": "mutation", "cacheable": False}),
        ({"cache_ttl": 60}, {"category": "query", "cacheable": True, "cacheTTL": 60}),
        ({"version": "2.0.0"}, {"version": "2.0.0"}),
    ],
    ids=str,
)
def test_a_declaration_that_is_not_full_claims_what_follows_from_it_and_no_more(declared, published):
    found = declared_meta(spec_of(function(), Declaration(**declared)))
    assert found == {f"dev.toolcharter/{name}": value for name, value in published.items()}
