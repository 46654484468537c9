"""No request breaks the sandbox: it answers with the result or with a refusal."""

import json
import pickle
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from atlassian_sandbox import sandbox_app
from atlassian_sandbox.app import SentRequest, routes
from atlassian_sandbox.checks import operation, shapes
from atlassian_sandbox.state import SiteState
from tests.atlassian_sandbox.site import BASE, NOW
from tests.atlassian_sandbox.test_documents import SAMPLES, address
from tests.thorough import examples

ROUTES = [(kind, route) for kind in ("cloud", "datacenter") for route in routes(kind)]
WORDS = [
    *SAMPLES.values(), "", "page", "comment", "storage", "atlas_doc_format", "read", "summary", "labels", "FERRY-30",
    "2h", "2026-11-17", "active", "<p>x</p>", '{"type":"doc"}', "[]", "project = FERRY", "type = page", "31", "-1", "é",
]  # fmt: skip
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-5, 30000), st.sampled_from(WORDS), st.text(max_size=5))
ANYTHING = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from([*WORDS, "id", "key", "name", "value", "add"]), inner, max_size=3),
    ),
    max_leaves=8,
)
FIELDS = ["summary", "labels", "parent", "assignee", "timetracking", "components", "customfield_10020", "description"]


def values(shape: Any) -> st.SearchStrategy[Any]:
    """Values of the shape, and some that are not."""
    if shape == "any":
        return st.one_of(ANYTHING, st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4))
    if isinstance(shape, str):
        fitting = {"string": st.sampled_from(WORDS), "boolean": st.booleans()}.get(shape, st.integers(-5, 30000))
        return st.one_of(fitting, fitting, fitting, st.none())
    if "items" in shape:
        return st.lists(values(shape["items"]), max_size=2)
    names = {name: values(inner) for name, inner in shape["fields"].items()}
    required = {name: names.pop(name) for name in shape.get("required", ())}
    return st.fixed_dictionaries(required, optional=names)


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, str, dict[str, str], Any]:
    kind, route = draw(st.sampled_from(ROUTES))
    shape = shapes(kind).get(operation(route.method, route.path), {"query": {}})
    known = list(shape["query"])
    query = draw(st.dictionaries(st.sampled_from(known), st.sampled_from(WORDS), max_size=3)) if known else {}
    query |= {name: draw(st.sampled_from(WORDS)) for name in shape.get("required", ())}
    body = draw(values(shape["body"])) if "body" in shape else None
    path = address(route.path) if "{" in route.path and draw(st.booleans()) and _has_sample(route.path) else route.path
    return kind, route.method, path, query, body


def _has_sample(path: str) -> bool:
    try:
        return bool(address(path))
    except KeyError:
        return False


def snapshot(state: SiteState) -> bytes:
    """Everything that the site remembers, without the ids that it has given out."""
    return pickle.dumps({name: value for name, value in vars(state).items() if name not in ("clock", "last_id")})


@settings(max_examples=examples(1000))
@given(requests())
def test_no_request_breaks_the_sandbox_and_a_refused_one_changes_nothing(request):
    kind, method, path, query, body = request
    sandbox = sandbox_app(kind, clock=lambda: NOW)
    before = snapshot(sandbox.state)
    content = b"" if body is None else json.dumps(body).encode()
    sent = SentRequest(method, path, {name: [value] for name, value in query.items()}, {}, content)
    response = sandbox.handle(sent, BASE)
    response.body()
    assert response.status < 500
    if response.status >= 400:
        assert snapshot(sandbox.state) == before
