"""Who may see and change what: without a browser, as an attacker would ask."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.responses import Response

from mcp_core import App, Settings
from tests.mcp_core.auth.issuer import Issuer, serving
from tests.toolcharter.serving.test_server import CALL, CALL_HEADERS
from toolcharter.console import Console, ConsolePage, View
from toolcharter.console.static_files import static_files
from toolcharter.local import targets
from toolcharter.serving.server import Site

BASE = "http://127.0.0.1:8000"
HTML = {"Accept": "text/html"}


def demo(**settings) -> App:
    return targets.load("demo", Settings(**settings))


@asynccontextmanager
async def visited(*apps: App, base: str = BASE) -> AsyncIterator[httpx2.AsyncClient]:
    site = Site(apps, base, console=Console)
    async with site.open(), httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=base) as http:
        yield http


def csrf_in(page: str) -> str:
    return re.search(r'name="csrf(?:-token)?" (?:content|value)="([0-9a-f]{64})"', page)[1]


async def sign_in(http: httpx2.AsyncClient, token: str, after: str = "/", base: str = BASE) -> httpx2.Response:
    form = (await http.get("/console/sign-in")).text
    fields = {"csrf": csrf_in(form), "token": token, "next": after}
    return await http.post("/console/sign-in", data=fields, headers={"Origin": base})


# ---- what the browser is told ----------------------------------------------------------------------------


async def test_every_response_forbids_scripts_styles_and_frames_of_others():
    async with visited(demo()) as http:
        pages = [
            await http.get(path) for path in ("/", "/console/tools", "/console/servers/demo", "/console/servers/x")
        ]
    assert [page.status_code for page in pages] == [200, 200, 200, 404]
    for page in pages:
        policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["cache-control"] == "no-store"


@pytest.mark.requirement("WEB-4")
async def test_a_page_has_no_inline_script_or_style_and_loads_only_files_of_ours():
    async with visited(demo()) as http:
        page = (await http.get("/console/servers/demo")).text
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page)
    loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]*)"', page)
    assert loaded
    assert all(path.startswith(f"/console/static/{static_files().digest}/") for path in loaded)


async def test_files_are_kept_for_ever_under_their_digest_and_asked_for_again_under_another():
    path = static_files().address("console.css")
    async with visited(demo()) as http:
        first, older = await http.get(path), await http.get("/console/static/0000/console.css")
        same = await http.get(path, headers={"If-None-Match": first.headers["etag"]})
        missing = await http.get("/console/static/0000/..%2fconsole.py")
    assert (first.status_code, first.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert first.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (older.text, older.headers["cache-control"]) == (first.text, "no-cache")
    assert (same.status_code, same.content) == (304, b"")
    assert missing.status_code == 404


def test_all_files_together_are_small():
    assert sum(map(len, static_files().content.values())) < 150_000


async def test_a_foreign_host_is_refused_on_every_page():
    async with visited(demo()) as http:
        refused = [
            (await http.get(path, headers={"Host": "evil.example"})).status_code
            for path in ("/", "/console/tools", "/console/sign-in", static_files().address("dom.js"))
        ]
    assert refused == [421, 421, 421, 421]


async def test_no_console_leaves_addresses_health_and_calls():
    async with visited(demo(no_console=True)) as http:
        first, tools = await http.get("/"), await http.get("/console/tools")
        call = await http.post("/demo/mcp", json=CALL, headers=CALL_HEADERS)
        forwarded = await http.post("/console/call/demo", json=CALL, headers=CALL_HEADERS)
    assert first.text == f"Notebook 1.0.0   {BASE}/demo/mcp\n"
    assert (tools.status_code, call.status_code, forwarded.status_code) == (404, 200, 404)


async def test_a_person_gets_a_page_for_what_does_not_exist_and_for_what_fails_and_a_program_gets_json(log):
    def with_a_broken_page(site: Site) -> Console:
        async def fail(_: View) -> Response:
            raise RuntimeError("/srv/secret is broken")

        console = Console(site)
        console.pages = (ConsolePage("/console/broken", fail), *console.pages)
        return console

    site = Site([demo()], BASE, console=with_a_broken_page)
    async with site.open(), httpx2.AsyncClient(transport=httpx2.ASGITransport(site), base_url=BASE) as http:
        missing = await http.get("/console/nothing/here", headers=HTML)
        moved = await http.get("/console/tools/", headers=HTML)
        broken = await http.get("/console/broken", headers=HTML)
        for_a_program = await http.get("/console/broken")
    assert missing.status_code == 404
    assert "This page does not exist." in missing.text
    assert "<nav" in missing.text
    assert (moved.status_code, moved.headers["location"]) == (307, "/console/tools")
    assert (broken.status_code, for_a_program.status_code) == (500, 500)
    assert "<h1>Something went wrong</h1>" in broken.text
    assert broken.headers["content-security-policy"]
    assert "secret" not in broken.text + for_a_program.text
    number = re.search(r"err-[0-9a-f]{12}", for_a_program.json()["error"])[0]
    assert any(number in text for _, text in log.messages)


async def test_a_form_that_is_out_of_date_is_answered_with_a_page():
    async with visited(targets.load("todo", Settings(user="ana"))) as http:
        answer = await http.post(
            "/console/todo", data={"change": "add", "csrf": "old"}, headers=HTML | {"Origin": BASE}
        )
    assert answer.status_code == 403
    assert "<p>The page is out of date. Load it again.</p>" in answer.text


@pytest.mark.parametrize("path", ["/nothing", "/demo", "/mcp/x", "/console/nothing", "/console/static/x/y.js"])
async def test_a_path_that_does_not_exist_is_a_page_for_a_browser(path: str):
    async with visited(demo()) as http:
        page, plain = await http.get(path, headers=HTML), await http.get(path)
    assert (page.status_code, plain.status_code) == (404, 404)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Not found</h1>" in page.text


@pytest.mark.parametrize("scheme", ["Basic", "Digest", "x"])
async def test_credentials_that_a_browser_adds_by_itself_do_not_prove_that_a_page_of_ours_asks(scheme: str):
    async with visited(targets.load("todo", Settings(user="ana"))) as http:
        headers = {"Origin": "https://evil.example", "Authorization": f"{scheme} YW5hOng="}
        answer = await http.post("/console/todo", data={"change": "add", "title": "x"}, headers=headers)
    assert (answer.status_code, "another origin" in answer.text) == (403, True)


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:8000@evil.example",
        "http://ana@127.0.0.1:8000",
        "http://127.0.0.1:9000",
        "null",
        "http://[",
        "",
    ],
)
async def test_an_origin_that_is_only_like_ours_is_refused(origin: str):
    async with visited(targets.load("todo", Settings(user="ana"))) as http:
        csrf = csrf_in((await http.get("/console/todo")).text)
        answer = await http.post("/console/todo", data={"change": "add", "csrf": csrf}, headers={"Origin": origin})
    assert answer.status_code == 403


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "-1", "x", "\u0663", "1e9"])
async def test_a_number_that_no_page_can_use_is_answered_with_400(text: str):
    async with visited(demo()) as http:
        tools = await http.get("/console/tools", params={"page": text}, headers=HTML)
        call = await http.get(f"/console/live/call/{text}", headers=HTML)
    assert (tools.status_code, "is not a number that this page can use" in tools.text) == (400, True)
    assert call.status_code in (400, 404)


@pytest.mark.parametrize("path", ["tools", "live/calls"])
async def test_a_search_that_is_too_long_is_refused_and_not_cut(path: str):
    async with visited(demo()) as http:
        found, refused = [await http.get(f"/console/{path}", params={"q": "x" * length}) for length in (200, 201)]
    assert (found.status_code, refused.status_code) == (200, 400)
    assert refused.json() == {"error": "The search has 201 characters; use at most 200."}


@pytest.mark.parametrize("change", ["add", "edit"])
@pytest.mark.parametrize(("field", "length"), [("title", 256), ("description", 10_001)])
async def test_a_value_that_is_too_long_is_refused_and_stays_in_its_form(
    tmp_path: Path, change: str, field: str, length: int
):
    async with visited(targets.load("todo", Settings(user="ana", db=f"sqlite:///{tmp_path / 'todo.db'}"))) as http:

        async def send(**form: str) -> httpx2.Response:
            csrf = csrf_in((await http.get("/console/todo")).text)
            return await http.post("/console/todo", data={"csrf": csrf, **form}, headers={"Origin": BASE})

        await send(change="add", title="Buy milk")
        page = (await http.get("/console/todo")).text
        task = page.partition('name="task_id" value="')[2].partition('"')[0]
        answer = await send(change=change, task_id=task, **{"title": "Buy tea", field: "x" * length})
        after = (await http.get("/console/todo")).text
    assert "maxlength" not in page
    assert (answer.status_code, f"{field}: string should have at most" in answer.text) == (400, True)
    assert answer.text.count("x" * length) == 1
    assert answer.text.count("<details open") == (change == "edit")
    assert "Buy tea" not in after
    assert "xxx" not in after


async def test_a_session_that_another_server_made_is_of_no_use(tokens: Path):
    app = demo(tokens=tokens)
    async with visited(app) as http:
        await sign_in(http, "ana-token")
        assert (await http.get("/console/tools", headers=HTML)).status_code == 200
        app.state._key = bytes(32)
        assert (await http.get("/console/tools", headers=HTML)).status_code == 303


async def test_the_short_address_leads_to_the_first_page():
    async with visited(demo()) as http:
        assert (await http.get("/console")).headers["location"] == "/"


# ---- signing in ------------------------------------------------------------------------------------------


async def test_a_browser_without_a_token_is_sent_to_the_form_and_a_program_gets_401(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        browser = await http.get("/console/tools?q=a&server=b", headers=HTML)
        program = await http.get("/console/tools")
        health = await http.get("/health")
        form = await http.get(browser.headers["location"])
    assert (browser.status_code, browser.headers["location"]) == (
        303,
        "/console/sign-in?next=/console/tools%3Fq%3Da%26server%3Db",
    )
    assert (program.status_code, program.headers["www-authenticate"]) == (401, "Bearer")
    assert health.json() == {"status": "ok"}
    assert form.status_code == 200
    assert "add" not in re.findall(r"<code>(\w+)</code>", form.text)


async def test_a_token_signs_in_and_the_cookie_cannot_be_read_by_scripts_or_sent_by_others(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        signed = await sign_in(http, "ana-token", "/console/tools")
        page = await http.get("/console/tools")
    cookie = signed.headers["set-cookie"]
    assert (signed.status_code, signed.headers["location"]) == (303, "/console/tools")
    assert cookie.startswith("toolcharter-8000=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} < set(cookie.split("; "))
    assert "ana-token" not in cookie
    assert "<code>delete_note</code>" in page.text
    assert "ana-token" not in page.text


async def test_under_tls_the_cookie_is_bound_to_it(tokens: Path):
    base = "https://127.0.0.1:8443"
    async with visited(demo(tokens=tokens), base=base) as http:
        cookie = (await sign_in(http, "ana-token", base=base)).headers["set-cookie"]
    assert cookie.startswith("__Host-toolcharter-8443=")
    assert "Secure" in cookie.split("; ")


async def test_a_wrong_token_is_refused_and_named_nowhere(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        refused = await sign_in(http, "no-token-of-ours", "/console/tools")
    assert refused.status_code == 401
    assert "This token is not valid here." in refused.text
    assert "no-token-of-ours" not in refused.text
    assert 'value="/console/tools"' in refused.text
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize(
    "after", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
)
async def test_signing_in_never_leads_to_another_server(tokens: Path, after: str):
    async with visited(demo(tokens=tokens)) as http:
        assert (await sign_in(http, "ana-token", after)).headers["location"] == "/"


async def test_the_form_of_another_site_signs_nobody_in(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        csrf = csrf_in((await http.get("/console/sign-in")).text)
        fields = {"csrf": csrf, "token": "ana-token"}
        foreign = await http.post("/console/sign-in", data=fields, headers={"Origin": "https://evil.example"})
        without_origin = await http.post("/console/sign-in", data=fields)
        forged = await http.post("/console/sign-in", data=fields | {"csrf": "0" * 64}, headers={"Origin": BASE})
    assert [one.status_code for one in (foreign, without_origin, forged)] == [403, 403, 403]
    assert [one for one in (foreign, without_origin, forged) if "set-cookie" in one.headers] == []


async def test_after_signing_out_the_cookie_is_worth_nothing(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        await sign_in(http, "ana-token")
        kept = dict(http.cookies)
        csrf = csrf_in((await http.get("/")).text)
        out = await http.post("/console/sign-out", data={"csrf": csrf}, headers={"Origin": BASE})
        http.cookies.update(kept)
        after = await http.get("/", headers=HTML)
    assert (out.status_code, out.headers["location"]) == (303, "/console/sign-in")
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert after.status_code == 303


async def test_a_session_ends_with_its_token_and_the_form_says_so(tmp_path: Path):
    path = tmp_path / "tokens.json"
    path.write_text('{"ana-token": {"user": "ana", "grants": ["*"]}}')
    app = demo(tokens=path)
    async with visited(app) as http:
        await sign_in(http, "ana-token")
        before = await http.get("/", headers=HTML)
        signed_in = await http.get("/console/sign-in?next=/console/live", headers=HTML)
        path.write_text('{"other": {"user": "ana", "grants": ["*"]}}')
        app.reload()
        after = await http.get("/", headers=HTML)
        form = await http.get(after.headers["location"], headers=HTML)
    assert (before.status_code, after.status_code) == (200, 303)
    assert signed_in.headers["location"] == "/console/live"  # nobody has to sign in twice
    assert "You are signed out: the session or its token has ended." in form.text


async def test_the_store_of_sessions_has_no_token(tokens: Path):
    app = demo(tokens=tokens)
    kept: list[str] = []
    async with visited(app) as http:
        reserve = app.state.reserve

        async def watched(key: str, text: str, ttl: float) -> str | None:
            kept.append(key + text)
            return await reserve(key, text, ttl)

        app.state.reserve = watched
        await sign_in(http, "ana-token")
        [cookie] = http.cookies.values()
    [text] = kept
    assert "ana-token" not in text
    assert b"ana-token".hex() not in text
    assert cookie not in text


async def test_what_a_caller_may_not_see_is_not_there(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        await sign_in(http, "ben-token")
        pages = [(await http.get(path)).text for path in ("/", "/console/servers/demo", "/console/tools")]
        hidden = [await http.get(f"/console/tools/demo/{name}") for name in ("delete_note", "no_such_tool")]
    assert "<code>list_notes</code>" in pages[-1]
    assert [name for name in ("delete_note", "add a=2", "demo/add", "create_note") if name in "".join(pages)] == []
    assert [one.status_code for one in hidden] == [404, 404]
    assert hidden[0].text.replace("delete_note", "") == hidden[1].text.replace("no_such_tool", "")


async def test_a_server_that_does_not_know_the_token_is_not_there(tmp_path: Path):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    ours.write_text('{"ana-token": {"user": "ana", "grants": ["*"]}}')
    theirs.write_text('{"ben-token": {"user": "ben", "grants": ["*"]}}')
    other = App("other", version="1.0.0", title="Secret project", settings=Settings(tokens=theirs))
    async with visited(demo(tokens=ours), other) as http:
        await sign_in(http, "ana-token")
        page, hidden, call = (
            await http.get("/"),
            await http.get("/console/servers/other"),
            await http.post(
                "/console/call/other",
                json=CALL,
                headers=CALL_HEADERS | {"Origin": BASE, "X-CSRF-Token": csrf_in((await http.get("/")).text)},
            ),
        )
    assert "Notebook" in page.text
    assert "Secret" not in page.text
    assert (hidden.status_code, call.status_code) == (404, 404)


# ---- calls from the browser ------------------------------------------------------------------------------


async def test_a_call_from_the_browser_needs_the_csrf_token_of_its_page_and_our_origin():
    async with visited(demo()) as http:
        csrf = csrf_in((await http.get("/")).text)
        ours = CALL_HEADERS | {"Origin": BASE, "X-CSRF-Token": csrf}
        attempts = {
            "ours": ours,
            "without": CALL_HEADERS | {"Origin": BASE},
            "forged": ours | {"X-CSRF-Token": "0" * 64},
            "foreign": ours | {"Origin": "https://evil.example"},
            "no origin": CALL_HEADERS | {"X-CSRF-Token": csrf},
            "another port": ours | {"Origin": "http://127.0.0.1:9000"},
            "cross-site": ours | {"Sec-Fetch-Site": "cross-site"},
        }
        answers = {name: await http.post("/console/call/demo", json=CALL, headers=h) for name, h in attempts.items()}
    assert {name: answer.status_code for name, answer in answers.items()} == {
        "ours": 200,
        **dict.fromkeys(["without", "forged", "foreign", "no origin", "another port", "cross-site"], 403),
    }
    assert '\\"data\\":5' in answers["ours"].text


async def test_a_signed_in_browser_calls_with_the_rights_of_its_token_and_not_with_its_cookie_alone(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        await sign_in(http, "ben-token")
        headers = CALL_HEADERS | {"Origin": BASE, "X-CSRF-Token": csrf_in((await http.get("/")).text)}
        denied = await http.post("/console/call/demo", json=CALL, headers=headers)
        at_endpoint = await http.post("/demo/mcp", json=CALL, headers=headers)
        http.cookies.clear()
        anonymous = await http.post("/console/call/demo", json=CALL, headers=headers)
        await sign_in(http, "ana-token")
        of_another = await http.post("/console/call/demo", json=CALL, headers=headers)
        headers["X-CSRF-Token"] = csrf_in((await http.get("/")).text)
        allowed = await http.post("/console/call/demo", json=CALL, headers=headers)
    assert "math:use" in denied.text
    assert (at_endpoint.status_code, anonymous.status_code, of_another.status_code) == (401, 401, 403)
    assert '\\"data\\":5' in allowed.text


async def test_a_program_with_a_token_in_its_header_reads_and_calls_without_signing_in(tokens: Path):
    async with visited(demo(tokens=tokens)) as http:
        http.headers["Authorization"] = "Bearer ana-token"
        page = await http.get("/console/tools")
        call = await http.post("/console/call/demo", json=CALL, headers=CALL_HEADERS)
    assert "<code>delete_note</code>" in page.text
    assert '\\"data\\":5' in call.text


# ---- several processes, and access tokens ----------------------------------------------------------------


async def test_a_browser_that_signed_in_at_one_worker_is_known_by_the_others(tokens: Path, redis_url: str):
    settings = {"tokens": tokens, "redis": redis_url}
    async with visited(demo(**settings)) as one, visited(demo(**settings)) as other:
        await sign_in(one, "ana-token")
        other.cookies.update(dict(one.cookies))
        csrf = csrf_in((await one.get("/")).text)
        headers = CALL_HEADERS | {"Origin": BASE, "X-CSRF-Token": csrf}
        call = await other.post("/console/call/demo", json=CALL, headers=headers)
        await other.post("/console/sign-out", data={"csrf": csrf}, headers={"Origin": BASE})
        after = await one.get("/", headers=HTML)
    assert '\\"data\\":5' in call.text
    assert after.status_code == 303


async def test_without_the_shared_store_nobody_is_signed_in_and_a_page_says_why(tokens: Path):
    nowhere = "redis://127.0.0.1:1/0"
    async with visited(demo(tokens=tokens, redis=nowhere)) as http:
        http.cookies.set("toolcharter-8000", "a-cookie")
        page = await http.get("/", headers=HTML)
        by_token = await http.get("/console/tools", headers={"Authorization": "Bearer ana-token"})
    assert page.status_code == 503
    assert "The server cannot reach what its processes share" in page.text
    assert (by_token.status_code, "<code>add</code>" in by_token.text) == (200, True)


async def test_an_access_token_of_the_issuer_signs_in_too():
    with serving(Issuer()) as issuer:
        app = demo(oidc=issuer.url, audience=(BASE,))
        async with visited(app) as http:
            form = (await http.get("/console/sign-in")).text
            token = issuer.token(aud=BASE, scope="notes:read")
            signed = await sign_in(http, f"Bearer {token}")
            page = (await http.get("/console/tools")).text
    assert f"An access token of {issuer.url} works too." in form
    assert signed.status_code == 303
    assert "<code>list_notes</code>" in page
    assert "<code>add</code>" not in page
