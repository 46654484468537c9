"""What the client repeats, what it does not, and what it says."""

import asyncio
import json

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcp_atl.client.errors import AuthError, SiteUnavailable, WriteOutcomeUnknown
from mcp_atl.client.http import RetryPolicy, SiteClient, open_http
from mcp_atl.site import Access, AtlassianSite, Credentials, Secret
from toolcharter import Conflict, InvalidArguments, NotFound, PermissionDenied
from toolcharter.errors import RateLimited
from toolcharter.telemetry import Telemetry

SITE = AtlassianSite(
    "acme", "cloud", jira_url="https://acme.atlassian.net", confluence_url="https://acme.atlassian.net"
)
Step = httpx2.Response | Exception


class Upstream:
    """Answers with one step after the other, and remembers the requests."""

    def __init__(self, *steps: Step) -> None:
        self.steps, self.requests, self.waits = list(steps), [], []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def client(self, access: Access | None = None, **retry: float) -> SiteClient:
        pool = open_http(SITE, httpx2.MockTransport(self))
        return SiteClient(
            access or Access(SITE),
            pool,
            slots=asyncio.Semaphore(2),
            retry=RetryPolicy(**retry),  # pyright: ignore[reportArgumentType]
            sleep=self.sleep,
            dice=lambda: 0.0,
        )


def busy(status: int, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})


OK = httpx2.Response(200, json={"ok": True})


@pytest.mark.requirement("ATL-9")
@pytest.mark.parametrize("failure", [busy(429), busy(502), busy(503), busy(504), httpx2.ReadError("gone")])
async def test_a_read_is_repeated_after_a_passing_failure(failure: Step):
    upstream = Upstream(failure, OK)
    assert await upstream.client().send("jira", "GET", "/rest/api/3/myself") == {"ok": True}
    assert len(upstream.requests) == 2


@pytest.mark.requirement("ATL-9")
@pytest.mark.parametrize("failure", [busy(502), busy(503), busy(504), httpx2.ReadError("gone"), httpx2.ReadTimeout("")])
async def test_a_write_that_may_have_arrived_is_never_repeated(failure: Step):
    upstream = Upstream(failure, OK)
    with pytest.raises(SiteUnavailable) as caught:
        await upstream.client().send("jira", "POST", "/rest/api/3/issue", json={})
    assert len(upstream.requests) == 1
    if isinstance(failure, Exception):
        assert isinstance(caught.value, WriteOutcomeUnknown)
        assert caught.value.instruction == "Read the item to see whether the change is there before trying again."


@pytest.mark.requirement("ATL-9")
@pytest.mark.parametrize("refusal", [busy(429), busy(503, retry_after="1"), httpx2.ConnectError("refused")])
async def test_a_write_that_certainly_did_not_arrive_is_repeated(refusal: Step):
    upstream = Upstream(refusal, OK)
    assert await upstream.client().send("jira", "POST", "/rest/api/3/issue", json={}) == {"ok": True}
    assert len(upstream.requests) == 2


@pytest.mark.requirement("ATL-9")
async def test_retry_after_is_honoured_and_other_waits_grow():
    upstream = Upstream(busy(429, retry_after="7"), busy(503), busy(503), OK)
    await upstream.client().send("jira", "GET", "/rest/api/3/myself")
    assert upstream.waits == [7.0, 0.5, 1.0]


@pytest.mark.requirement("ATL-9")
async def test_a_site_that_asks_for_a_longer_wait_than_the_budget_is_not_waited_for():
    upstream = Upstream(busy(429, retry_after="3600"), OK)
    with pytest.raises(RateLimited, match=r"rate limit is reached \(HTTP 429"):
        await upstream.client().send("jira", "GET", "/rest/api/3/myself")
    assert upstream.waits == []


async def test_a_search_by_post_is_repeated_like_a_read():
    upstream = Upstream(busy(502), OK)
    await upstream.client().send("jira", "POST", "/rest/api/3/search/jql", json={}, safe=True)
    assert len(upstream.requests) == 2


async def test_a_site_that_stays_away_is_an_error_after_the_last_attempt():
    upstream = Upstream(*[httpx2.ConnectError("refused")] * 4)
    with pytest.raises(SiteUnavailable, match=r"cannot be reached \(GET /rest/api/3/myself\): refused"):
        await upstream.client().send("jira", "GET", "/rest/api/3/myself")


ERRORS = {
    401: AuthError,
    403: PermissionDenied,
    404: NotFound,
    400: InvalidArguments,
    409: Conflict,
    429: RateLimited,
    500: SiteUnavailable,
}
BODIES = {
    "Jira": {"errorMessages": ["No such thing."], "errors": {"summary": "No such thing."}},
    "Confluence Cloud": {"errors": [{"status": 400, "title": "No such thing.", "detail": None}]},
    "Confluence Data Center": {"data": {"errors": [{"message": {"translation": "No such thing."}}]}},
    "the gateway": {"code": 401, "message": "No such thing."},
    "plain text": "No such thing.",
}


@pytest.mark.requirement("ATL-8")
@pytest.mark.parametrize(("status", "kind"), ERRORS.items())
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_an_error_keeps_its_type_and_the_words_of_the_site(status: int, kind: type[Exception], body: object):
    content = body if isinstance(body, str) else json.dumps(body)
    upstream = Upstream(*[httpx2.Response(status, text=content)] * 4)
    with pytest.raises(kind, match=f"HTTP {status} for GET /rest/api/3/x.*No such thing"):
        await upstream.client().send("jira", "GET", "/rest/api/3/x")


async def test_a_sign_in_page_is_not_taken_for_an_answer():
    upstream = Upstream(httpx2.Response(200, text="<html>Log in</html>", headers={"content-type": "text/html"}))
    with pytest.raises(SiteUnavailable, match="is text/html, not JSON"):
        await upstream.client().send("jira", "GET", "/rest/api/3/myself")


async def test_cookies_of_the_site_are_not_kept():
    upstream = Upstream(httpx2.Response(200, json={}, headers={"set-cookie": "session=ann; Path=/"}), OK)
    client = upstream.client()
    await client.send("jira", "GET", "/rest/api/3/myself")
    await client.send("jira", "GET", "/rest/api/3/myself")
    assert "cookie" not in upstream.requests[1].headers


@pytest.mark.parametrize(
    ("credentials", "header"),
    [
        (Credentials("basic", "ann", Secret("t")), "Basic YW5uOnQ="),
        (Credentials("bearer", secret=Secret("t")), "Bearer t"),
        (Credentials(), None),
    ],
)
async def test_each_product_gets_its_own_credentials(credentials: Credentials, header: str | None):
    upstream = Upstream(OK, OK)
    client = upstream.client(Access(SITE, jira=credentials))
    await client.send("jira", "GET", "/rest/api/3/myself")
    await client.send("confluence", "GET", "/wiki/rest/api/user/current")
    assert [request.headers.get("authorization") for request in upstream.requests] == [header, None]


async def test_a_download_is_redirected_without_our_credentials():
    elsewhere = httpx2.Response(302, headers={"location": "https://files.example/1"})
    upstream = Upstream(elsewhere, httpx2.Response(200, content=b"data"))
    client = upstream.client(Access(SITE, jira=Credentials("bearer", secret=Secret("t"))))
    async with client.stream("jira", "/rest/api/3/attachment/content/1") as response:
        assert await response.aread() == b"data"
    assert [request.headers.get("authorization") for request in upstream.requests] == ["Bearer t", None]


def test_secrets_are_not_shown():
    secret = Credentials("basic", "ann", Secret("hunter2"))
    assert "hunter2" not in repr(secret)
    assert "hunter2" not in repr(Access(SITE, secret))


async def test_the_site_gets_the_trace_of_the_call_and_nothing_where_calls_are_not_traced():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = Telemetry("atl", tracer_provider=provider)
    upstream = Upstream(OK, busy(503), OK)
    client = upstream.client()
    await client.send("jira", "GET", "/rest/api/3/myself")
    parent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    with telemetry.span("get_me", "query", parent):
        await client.send("jira", "GET", "/rest/api/3/myself")
    assert "traceparent" not in upstream.requests[0].headers
    first, second, call = exporter.get_finished_spans()
    sent = [request.headers["traceparent"].split("-")[1:3] for request in upstream.requests[1:]]
    trace = "0af7651916cd43dd8448eb211c80319c"
    assert sent[1] == [trace, format(second.context.span_id, "016x")]
    assert (first.name, first.parent.span_id) == ("HTTP GET", call.context.span_id)
    assert [span.attributes["http.response.status_code"] for span in (first, second)] == [503, 200]
    assert second.attributes["url.path"] == "/rest/api/3/myself"
