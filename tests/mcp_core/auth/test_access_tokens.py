"""Access tokens as JWTs: which are accepted, and what the issuer can be made to do."""

import asyncio
import base64
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mcp_core import App, Caller, Settings
from mcp_core.auth import IdentityUnavailable
from mcp_core.auth.access_tokens import AccessTokens
from mcp_core.auth.issuer_http import IssuerHttp
from mcp_core.auth.issuer_keys import IssuerKey, IssuerKeys
from mcp_core.auth.jwt_tokens import JwtTokens
from mcp_core.auth.permissions import ScopesAsPermissions
from mcp_core.logs.telemetry import prometheus
from tests.mcp_core.auth.issuer import EC_KEY, RSA_KEYS, Issuer, public_jwk
from toolcharter.serving.routes import readiness

AUDIENCE = "https://tools.example"


class Timer:
    """The clock that does not jump, moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


def verifier(issuer: Issuer, **settings: Any) -> AccessTokens:
    options = {"oidc": issuer.url, "audience": (AUDIENCE,), **settings}
    http = IssuerHttp(httpx2.ASGITransport(issuer.app))
    return AccessTokens(Settings(**options), "todo", ScopesAsPermissions(), http)


@pytest.fixture
async def access(issuer: Issuer) -> AsyncIterator[AccessTokens]:
    tokens = verifier(issuer)
    yield tokens
    await tokens.close()


@pytest.fixture
def timer(access: AccessTokens) -> Timer:
    timer = Timer()
    access._keys._timer = access._verified._timer = timer
    return timer


def part(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@pytest.mark.requirement("OPS-1")
async def test_a_token_of_the_issuer_stands_for_its_user_with_its_scopes(issuer: Issuer, access: AccessTokens):
    scopes = frozenset({"todos:read", "todos:write"})
    assert await access.verify(issuer.token(scope="todos:read todos:write")) == Caller(
        "user:ann", "ann", scopes, scopes=scopes
    )
    assert await access.verify(issuer.token(scp=["todos:read"])) == Caller(
        "user:ann", "ann", frozenset({"todos:read"}), scopes=frozenset({"todos:read"})
    )


@pytest.mark.parametrize(
    "audience",
    [
        AUDIENCE,
        f"{AUDIENCE}/",
        f"{AUDIENCE}/mcp",
        f"{AUDIENCE}/todo/mcp",
        ["https://other.example", AUDIENCE],
    ],
)
async def test_a_token_may_be_for_the_site_or_for_this_server(issuer: Issuer, access: AccessTokens, audience: Any):
    assert await access.verify(issuer.token(aud=audience)) is not None


NOW = int(time.time())

REFUSED: dict[str, Callable[[Issuer], str]] = {
    "for another audience": lambda i: i.token(aud="https://other.example"),
    "for another server of the site": lambda i: i.token(aud=f"{AUDIENCE}/guide/mcp"),
    "for a name that only begins like ours": lambda i: i.token(aud=f"{AUDIENCE}.evil.example"),
    "without an audience": lambda i: i.token(aud=None),
    "expired": lambda i: i.token(exp=NOW - 30),
    "without an expiry": lambda i: i.token(exp=None),
    "with an expiry of 400 digits": lambda i: i.token(exp=10**400),
    "not yet valid": lambda i: i.token(nbf=NOW + 3600),
    "issued in the future": lambda i: i.token(iat=NOW + 3600),
    "from another issuer": lambda i: i.token(iss="https://other.example"),
    "from an issuer with a longer name": lambda i: i.token(iss=f"{i.url}x"),
    "without an issuer": lambda i: i.token(iss=None),
    "for nobody": lambda i: i.token(sub=None),
    "for the person at the server": lambda i: i.token(sub="local"),
    "for a name with a line break": lambda i: i.token(sub="ann\nroot"),
    "bound to a key": lambda i: i.token(cnf={"jkt": "x"}),
    "an identity token": lambda i: i.token(header={"typ": "id+jwt"}),
    "a logout token": lambda i: i.token(header={"typ": "logout+jwt"}),
    "with a critical header": lambda i: i.token(header={"crit": ["exp"], "exp": 1}),
    "signed with a key that the issuer does not have": lambda i: jwt.encode(
        i.claims(), RSA_KEYS[1], "RS256", {"kid": "k1", "typ": "at+jwt"}
    ),
    "with a key of its own in the header": lambda i: jwt.encode(
        i.claims(), RSA_KEYS[1], "RS256", {"kid": "k1", "jwk": public_jwk(RSA_KEYS[1], "k1")}
    ),
    "with the address of a key in the header": lambda i: jwt.encode(
        i.claims(), RSA_KEYS[1], "RS256", {"kid": "k1", "jku": "https://evil.example/jwks", "x5u": "file:///etc/passwd"}
    ),
    "with an unknown key id": lambda i: i.token(header={"kid": "k9"}),
    "with an empty signature": lambda i: i.token().rpartition(".")[0] + ".",
    "with an altered signature": lambda i: i.token()[:-8] + "AAAAAAAA",
    "with an altered payload": lambda i: ".".join(
        [i.token().split(".")[0], part(i.claims(sub="root")), i.token().split(".")[2]]
    ),
    "unsigned": lambda i: f"{part({'alg': 'none', 'typ': 'at+jwt', 'kid': 'k1'})}.{part(i.claims())}.",
    "unsigned in capitals": lambda i: f"{part({'alg': 'NONE', 'kid': 'k1'})}.{part(i.claims())}.",
    "without an algorithm": lambda i: f"{part({'kid': 'k1'})}.{part(i.claims())}.",
    "in two parts": lambda i: i.token().rpartition(".")[0],
    "in four parts": lambda i: i.token() + ".x",
    "not a token": lambda i: "tch_" + "x" * 40,
    "empty": lambda i: "",
    "huge": lambda i: "x" * 1_000_000,
    "with a long header": lambda i: i.token(header={"x": "y" * 2000}),
    "with a header that is not an object": lambda i: f"{part([])}.{part(i.claims())}.AAAA",
    "with a header that is not JSON": lambda i: "x.e30.AAAA",
    "with a header of another spelling": lambda i: "=".join(
        [i.token().split(".")[0], "." + i.token().partition(".")[2]]
    ),
    "deeply nested": lambda i: base64.urlsafe_b64encode(b"[" * 100_000).decode().rstrip("=") + ".e30.AAAA",
}


@pytest.mark.requirement("OPS-1")
@pytest.mark.parametrize("what", REFUSED)
async def test_a_token_is_refused_that_is(issuer: Issuer, access: AccessTokens, what: str):
    assert await access.verify(issuer.token()) is not None
    assert await access.verify(REFUSED[what](issuer)) is None


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        (lambda i: i.token(aud="account"), "its aud is 'account', but --audience allows https://tools.example"),
        (lambda i: i.token(iss="https://sts.example"), "its iss is 'https://sts.example', but --oidc is '{}'"),
        (lambda i: "gho_16C7e42F292c6912E7710c838347Ae178B4a", "it is not a JWT; --introspection is for tokens that"),
    ],
)
async def test_the_log_says_what_is_wrong_with_a_token(issuer: Issuer, access: AccessTokens, caplog, token, problem):
    caplog.set_level("INFO")
    assert await access.verify(token(issuer)) is None
    assert f"An access token was refused: {problem.format(issuer.url)}" in caplog.text


@pytest.mark.requirement("OPS-1")
async def test_a_public_key_is_not_a_secret_to_sign_with(issuer: Issuer, access: AccessTokens):
    pem = RSA_KEYS[0].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, payload = part({"alg": "HS256", "typ": "at+jwt", "kid": "k1"}), part(issuer.claims())
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    for secret in (pem, pem.strip(), json.dumps(public_jwk(RSA_KEYS[0], "k1")).encode()):
        signature = base64.urlsafe_b64encode(algorithm.sign(f"{head}.{payload}".encode(), secret)).rstrip(b"=").decode()
        assert await access.verify(f"{head}.{payload}.{signature}") is None
    # Not even if the issuer publishes a shared secret by mistake.
    issuer.more_keys = [{"kty": "oct", "kid": "s", "k": base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")}]
    assert await access.verify(jwt.encode(issuer.claims(), b"x" * 32, "HS256", {"kid": "s"})) is None


# Three checks keep a public key from being used as a secret. Each of these tests has the other checks out of its way.


class FoundKeys(IssuerKeys):
    """Keys that find the same one for every token."""

    def __init__(self, issuer: Issuer, key: Any, *algorithms: str) -> None:
        super().__init__(issuer.url, IssuerHttp(httpx2.ASGITransport(issuer.app)))
        self._found = IssuerKey("k1", key, algorithms)

    async def find(self, kid: str | None, algorithm: str) -> IssuerKey:
        return self._found


@pytest.mark.requirement("OPS-1")
async def test_a_signature_that_needs_no_private_key_is_refused_whatever_the_keys_allow(issuer: Issuer):
    secret = b"known to the issuer and to others"
    token = jwt.encode(issuer.claims(), secret, "HS256", {"kid": "k1"})
    assert jwt.decode(token, secret, algorithms=["HS256"], audience=AUDIENCE)["sub"] == "ann"
    tokens = JwtTokens(FoundKeys(issuer, secret, "RS256", "HS256"), [AUDIENCE], ScopesAsPermissions())
    assert await tokens.verify(token) is None


@pytest.mark.requirement("OPS-1")
async def test_a_token_is_verified_with_the_algorithms_of_its_key_and_no_other(issuer: Issuer):
    token, key = issuer.token(), RSA_KEYS[0].public_key()
    same = JwtTokens(FoundKeys(issuer, key, "RS256"), [AUDIENCE], ScopesAsPermissions())
    other = JwtTokens(FoundKeys(issuer, key, "PS256"), [AUDIENCE], ScopesAsPermissions())
    assert await same.verify(token) is not None
    assert await other.verify(token) is None


async def test_a_key_is_found_for_its_own_algorithms_only(issuer: Issuer):
    keys = IssuerKeys(issuer.url, IssuerHttp(httpx2.ASGITransport(issuer.app)))
    found = await keys.find("k1", "RS256")
    assert found is not None
    assert found.kid == "k1"
    assert await keys.find("k1", "ES256") is None
    assert await keys.find("k1", "HS256") is None
    await keys.close()


async def test_a_key_is_used_with_its_own_algorithms_only(issuer: Issuer, access: AccessTokens):
    issuer.keys = {"rsa": RSA_KEYS[0], "ec": EC_KEY}
    for kid, key, algorithm in (("rsa", RSA_KEYS[0], "PS256"), ("ec", EC_KEY, "ES256")):
        assert await access.verify(jwt.encode(issuer.claims(), key, algorithm, {"kid": kid})) is not None
    assert await access.verify(jwt.encode(issuer.claims(), EC_KEY, "ES256", {"kid": "rsa"})) is None


async def test_a_key_with_a_named_algorithm_is_used_with_no_other(issuer: Issuer, access: AccessTokens):
    issuer.keys, issuer.more_keys = {}, [public_jwk(RSA_KEYS[0], "k1", alg="PS256")]
    assert await access.verify(jwt.encode(issuer.claims(), RSA_KEYS[0], "PS256", {"kid": "k1"})) is not None
    assert await access.verify(jwt.encode(issuer.claims(), RSA_KEYS[0], "RS256", {"kid": "k1"})) is None


async def test_a_key_for_encryption_verifies_nothing(issuer: Issuer, access: AccessTokens):
    issuer.keys, issuer.more_keys = {}, [public_jwk(RSA_KEYS[0], "k1", use="enc"), "no key", {"kty": "RSA", "kid": "x"}]
    assert await access.verify(jwt.encode(issuer.claims(), RSA_KEYS[0], "RS256", {"kid": "k1"})) is None


async def test_a_token_without_a_key_id_is_accepted_if_only_one_key_can_have_signed_it(issuer: Issuer):
    one, two = verifier(issuer), verifier(issuer)
    assert await one.verify(issuer.token(header={"kid": None})) is not None
    issuer.rotate("k2", keep=True)
    assert await two.verify(issuer.token(header={"kid": None})) is None


async def test_little_leeway_is_given_to_clocks(issuer: Issuer, access: AccessTokens):
    assert await access.verify(issuer.token(exp=int(time.time()) - 3)) is not None
    assert await access.verify(issuer.token(nbf=int(time.time()) + 5)) is not None


# --- keys --------------------------------------------------------------------------------------------------


async def test_keys_are_fetched_once_and_a_new_key_is_found_when_it_is_used(
    issuer: Issuer, access: AccessTokens, timer: Timer
):
    await asyncio.gather(*(access.verify(issuer.token(jti=str(n))) for n in range(20)))
    assert issuer.requests == {"/.well-known/openid-configuration": 1, "/jwks": 1}
    issuer.rotate("k2")
    timer.now += 10
    assert await access.verify(issuer.token()) is not None
    assert issuer.requests["/jwks"] == 2


@pytest.mark.requirement("OPS-1")
async def test_unknown_key_ids_cannot_be_used_to_flood_the_issuer(issuer: Issuer, access: AccessTokens, timer: Timer):
    await access.verify(issuer.token())
    for second in range(100):
        for number in range(20):
            assert await access.verify(issuer.token(header={"kid": f"{second}-{number}"})) is None
        timer.now += 1
    assert issuer.requests["/jwks"] <= 11
    assert issuer.requests["/.well-known/openid-configuration"] == 1


async def test_algorithms_that_are_never_allowed_do_not_reach_the_issuer(issuer: Issuer, access: AccessTokens):
    for algorithm in ("none", "HS256", "ES256K", "x"):
        assert await access.verify(f"{part({'alg': algorithm, 'kid': algorithm})}.e30.AAAA") is None
    assert issuer.requests == {}


async def test_old_keys_are_replaced_while_calls_go_on(issuer: Issuer, access: AccessTokens, timer: Timer):
    old = issuer.token()
    await access.verify(old)
    issuer.rotate("k2")
    timer.now += 600
    assert await access.verify(old) is not None  # with the known key; the fetch has only begun
    await asyncio.gather(*(task for task in [access._keys._fetching] if task))
    timer.now += 60
    assert await access.verify(old) is None


@pytest.mark.requirement("OPS-7")
async def test_an_issuer_that_is_away_stops_only_what_is_not_known(
    issuer: Issuer, access: AccessTokens, timer: Timer, caplog: pytest.LogCaptureFixture
):
    assert await access.verify(issuer.token()) is not None
    issuer.status = 500
    assert await access.verify(issuer.token(jti="new")) is not None
    timer.now += 10
    with pytest.raises(IdentityUnavailable, match="cannot be fetched now"):
        await access.verify(issuer.token(header={"kid": "k9"}))
    assert not access.health.ok
    assert "the status is 500" in access.health.detail
    assert access.health.failures == 1
    asked = issuer.requests["/jwks"]
    for _ in range(10):
        with pytest.raises(IdentityUnavailable):
            await access.verify(issuer.token(header={"kid": "k9"}))
    assert issuer.requests["/jwks"] == asked  # it is left alone for a while
    issuer.status = 200
    timer.now += 120
    issuer.rotate("k2")
    assert await access.verify(issuer.token()) is not None
    assert access.health.ok
    warnings = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 2
    assert warnings[1] == "The issuer of access tokens answers again"


async def test_keys_are_not_used_for_ever_without_their_issuer(issuer: Issuer, access: AccessTokens, timer: Timer):
    await access.verify(issuer.token())
    issuer.status = 500
    timer.now += 24 * 3600
    assert await access.verify(issuer.token(jti="a day later")) is not None
    timer.now += 600
    with pytest.raises(IdentityUnavailable):
        await access.verify(issuer.token(jti="ten minutes more"))


@pytest.mark.requirement("OPS-7")
async def test_an_issuer_that_is_away_is_visible_in_readiness_and_metrics(issuer: Issuer):
    app = App("test", version="1.0.0", settings=Settings(oidc="http://localhost:9/issuer", audience=(AUDIENCE,)))
    assert app.identity is not None
    app.identity.access = verifier(issuer)
    issuer.status = 500
    async with app:
        with pytest.raises(IdentityUnavailable):
            await app.identity.verify(issuer.token())
        (health,) = app.known_health()
        assert (health.name, health.ok, health.failures) == ("issuer", False, 1)
        ready = await readiness([app], "serving")
        assert ready.status == "degraded"
        assert ready.dependencies == [("test", health)]
        metrics = prometheus([app.telemetry])
    assert 'toolcharter_dependency_up{server="test",dependency="issuer"} 0' in metrics


@pytest.mark.requirement("OPS-7")
async def test_an_issuer_that_hangs_costs_a_bounded_time(issuer: Issuer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mcp_core.auth.issuer_http.TIMEOUT_SECONDS", 0.05)
    issuer.hangs = True
    access = verifier(issuer)
    async with asyncio.timeout(60):
        access.open()  # a server starts without its issuer
        with pytest.raises(IdentityUnavailable):
            await access.verify(issuer.token())
    assert "did not answer within" in access.health.detail


@pytest.mark.parametrize(
    "fields",
    [
        {"issuer": "https://other.example"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://192.168.0.1/jwks"},
        {"jwks_uri": "http://localhost:9@keys.example/jwks"},
        {"jwks_uri": "https://user@keys.example/jwks"},
        {"jwks_uri": "x" * 1_000_001},
    ],
)
async def test_metadata_that_cannot_be_right_is_not_used(issuer: Issuer, access: AccessTokens, fields: dict[str, Any]):
    issuer.metadata_fields = fields
    with pytest.raises(IdentityUnavailable):
        await access.verify(issuer.token())
    assert not access.health.ok


async def test_metadata_is_found_where_plain_oauth_has_it_too(issuer: Issuer):
    app = issuer.app

    async def without_openid(scope: Any, receive: Any, send: Any) -> None:
        scope = {**scope, "path": "/none"} if "openid" in scope["path"] else scope
        await app(scope, receive, send)

    tokens = AccessTokens(
        Settings(oidc=issuer.url, audience=(AUDIENCE,)),
        "todo",
        ScopesAsPermissions(),
        IssuerHttp(httpx2.ASGITransport(without_openid)),
    )
    assert await tokens.verify(issuer.token()) is not None
    assert tokens.health.ok


async def test_a_slash_at_the_end_of_the_issuer_is_as_the_metadata_has_it(issuer: Issuer):
    issuer.metadata_fields = {"issuer": f"{issuer.url}/"}
    tokens = verifier(issuer)
    assert await tokens.verify(issuer.token(iss=f"{issuer.url}/")) is not None
    assert tokens.issuer == f"{issuer.url}/"


# --- verified tokens ---------------------------------------------------------------------------------------


async def test_a_token_seen_before_is_not_verified_again_for_a_minute(
    issuer: Issuer, access: AccessTokens, timer: Timer, monkeypatch: pytest.MonkeyPatch
):
    token = issuer.token()
    first = await access.verify(token)
    decodes: list[int] = []
    decode = access._verification._decode
    monkeypatch.setattr(access._verification, "_decode", lambda *args: decodes.append(1) or decode(*args))
    for _ in range(10):
        assert await access.verify(token) is first
    assert decodes == []
    timer.now += 60
    assert await access.verify(token) == first
    assert decodes == [1]


async def test_a_token_is_not_remembered_beyond_its_expiry(issuer: Issuer, access: AccessTokens):
    expires = int(time.time()) + 20
    token = issuer.token(exp=expires)
    assert await access.verify(token) is not None
    access._verified._clock = lambda: expires + 10.0
    assert access._verified.get(token) is None


async def test_tokens_without_end_do_not_fill_the_memory(access: AccessTokens, issuer: Issuer, monkeypatch):
    monkeypatch.setattr("mcp_core.auth.verified_tokens.MAX_REMEMBERED", 10)
    tokens = [issuer.token(jti=str(number)) for number in range(25)]
    for token in tokens:
        assert await access.verify(token) is not None
    assert len(access._verified._remembered) <= 10
    assert access._verified.get(tokens[-1]) is not None
    assert not any(token in repr(vars(access._verified)) for token in tokens)
