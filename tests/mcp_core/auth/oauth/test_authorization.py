"""Authorization requests, and the redirects that answer them."""

from urllib.parse import parse_qs, urlsplit

import pytest

from mcp_core.auth.oauth.authorization import authorization_code, authorization_url, read_redirect
from mcp_core.auth.oauth.errors import AccessNotGranted, OtherIssuer

ISSUER = "https://login.example"
# The example of RFC 7636, appendix B.
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_address_has_the_challenge_and_never_the_verifier():
    url = authorization_url(
        f"{ISSUER}/authorize?tenant=a b",
        client_id="c",
        redirect_uri="http://127.0.0.1:4/callback",
        state="s",
        verifier=VERIFIER,
        scopes=["read", "write"],
        resource="https://docs.example/mcp",
    )
    assert parse_qs(urlsplit(url).query) == {
        "tenant": ["a b"],
        "response_type": ["code"],
        "client_id": ["c"],
        "redirect_uri": ["http://127.0.0.1:4/callback"],
        "state": ["s"],
        "code_challenge": [CHALLENGE],
        "code_challenge_method": ["S256"],
        "scope": ["read write"],
        "resource": ["https://docs.example/mcp"],
    }
    assert VERIFIER not in url


def test_a_request_without_scopes_names_none():
    url = authorization_url(ISSUER, client_id="c", redirect_uri="r", state="s", verifier=VERIFIER)
    assert "scope" not in url


@pytest.mark.parametrize(("query", "fields"), [("code=1&state=a%20b", {"code": "1", "state": "a b"}), ("", {})])
def test_a_redirect_is_read(query: str, fields: dict[str, str]):
    assert read_redirect(query) == fields


def test_a_parameter_that_is_there_twice_counts_as_missing():
    assert read_redirect("code=1&code=2&state=s") == {"state": "s"}


@pytest.mark.parametrize("named", [{}, {"iss": ISSUER}, {"iss": f"{ISSUER}/"}])
def test_a_redirect_of_the_issuer_has_its_code(named: dict[str, str]):
    assert authorization_code({"code": "c", **named}, ISSUER) == "c"


@pytest.mark.parametrize(
    ("redirect", "names_issuer"),
    [
        ({"code": "c", "iss": "https://evil.example"}, False),
        ({"code": "c", "iss": ""}, False),
        ({"code": "c", "iss": f"{ISSUER}/tenant"}, False),
        ({"code": "c", "iss": f"{ISSUER}.evil.example"}, False),
        ({"error": "access_denied", "iss": "https://evil.example"}, False),
        ({"code": "c"}, True),
        ({"error": "access_denied"}, True),
    ],
)
def test_a_redirect_of_another_issuer_has_no_code_and_no_error(redirect: dict[str, str], names_issuer: bool):
    with pytest.raises(OtherIssuer):
        authorization_code(redirect, ISSUER, names_issuer=names_issuer)


@pytest.mark.parametrize(
    ("redirect", "reason"),
    [
        ({"error": "access_denied", "error_description": "text of others"}, "access_denied"),
        ({}, "no code"),
        ({"code": ""}, "no code"),
        ({"error": "x" * 61}, "no code"),
        ({"error": "\x1b[2J"}, "no code"),
    ],
)
def test_access_that_is_not_granted_is_an_error_with_its_code_alone(redirect: dict[str, str], reason: str):
    with pytest.raises(AccessNotGranted) as refused:
        authorization_code(redirect, ISSUER)
    assert str(refused.value) == f"was not signed in to: access was not granted ({reason})."
