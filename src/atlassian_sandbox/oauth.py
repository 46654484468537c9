"""A small OAuth 2.0 issuer: authorization code with PKCE, refresh tokens that rotate, and the sites of a token.

It has the paths of auth.atlassian.com and api.atlassian.com on Cloud, and those of Jira Data Center.
"""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import escape
from typing import Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from atlassian_sandbox.http import JsonObject, Refusal, Response
from atlassian_sandbox.model import SiteUser
from atlassian_sandbox.state import SiteState

CLIENT_ID, CLIENT_SECRET = "sandbox-client", "sandbox-secret"
LIFETIME = timedelta(hours=1)
AUTHORIZE = ("/authorize", "/rest/oauth2/latest/authorize")
TOKEN = ("/oauth/token", "/rest/oauth2/latest/token")
RESOURCES = "/oauth/token/accessible-resources"


@dataclass(frozen=True)
class AccessGrant:
    user: str
    scopes: tuple[str, ...]
    expires: datetime
    redirect_uri: str = ""
    challenge: str = ""


@dataclass
class Issuer:
    state: SiteState
    codes: dict[str, AccessGrant] = field(default_factory=dict[str, AccessGrant])
    access: dict[str, AccessGrant] = field(default_factory=dict[str, AccessGrant])
    refresh: dict[str, AccessGrant] = field(default_factory=dict[str, AccessGrant])

    def respond(
        self, method: str, path: str, query: dict[str, list[str]], content: bytes, authorization: str
    ) -> Response | None:
        """The response to a request of the issuer, or None for any other path."""
        flat = {name: values[-1] for name, values in query.items()}
        if method == "GET" and path in AUTHORIZE:
            return self.authorize(flat)
        if method == "POST" and path in TOKEN:
            return self.token(_parameters(content))
        if method == "GET" and path in (RESOURCES, "/me"):
            grant = self.grant(authorization)
            if grant is None:
                return Response(401, {"code": 401, "message": "Unauthorized"})
            return self.resources(grant) if path == RESOURCES else self.me(grant)
        return None

    def authorize(self, query: dict[str, str]) -> Response:
        """A page to choose a user; with one in the query, the redirect that follows the choice."""
        problem = _authorization_problem(query)
        if problem:
            return Response(400, {"error": "invalid_request", "error_description": problem})
        user = self.state.find_user(query.get("user", ""))
        if user is None:
            return Response(200, content=self._choice(query), headers={"content-type": "text/html; charset=utf-8"})
        code = self.state.new_token()
        scopes = tuple(query.get("scope", "").split())
        expires = self.state.now() + timedelta(minutes=5)
        self.codes[code] = AccessGrant(user.id, scopes, expires, query["redirect_uri"], query.get("code_challenge", ""))
        answer = {"code": code, "state": query.get("state", "")}
        separator = "&" if urlsplit(query["redirect_uri"]).query else "?"
        return Response(302, headers={"location": query["redirect_uri"] + separator + urlencode(answer)})

    def _choice(self, query: dict[str, str]) -> bytes:
        links = "".join(
            f'<li><a href="?{escape(urlencode({**query, "user": user.name}))}">{escape(user.display_name)}</a></li>'
            for user in self.state.users.values()
            if user.active
        )
        scopes = escape(query.get("scope", ""))
        title = "Sandbox: who are you?"
        return (
            f"<!doctype html><title>{title}</title><h1>{title}</h1><p>Access to: {scopes}</p><ul>{links}</ul>".encode()
        )

    def token(self, given: JsonObject) -> Response:
        secret = given.get("client_secret")
        if given.get("client_id") != CLIENT_ID or secret not in (CLIENT_SECRET, None):
            return Response(401, {"error": "invalid_client", "error_description": "The client id or secret is wrong."})
        match given.get("grant_type"):
            case "authorization_code":
                grant = self.codes.pop(str(given.get("code")), None)
                problem = self._code_problem(grant, given)
            case "refresh_token":
                grant = self.refresh.pop(str(given.get("refresh_token")), None)
                problem = None if grant else "Unknown or invalid refresh token."
            case _:
                return Response(400, {"error": "unsupported_grant_type"})
        if grant is None or problem:
            status = 403 if given.get("grant_type") == "refresh_token" else 400
            return Response(status, {"error": "invalid_grant", "error_description": problem})
        return Response(200, self._issue(grant))

    def _code_problem(self, grant: AccessGrant | None, given: JsonObject) -> str | None:
        if grant is None or grant.expires < self.state.now():
            return "The authorization code is unknown, was used, or has expired."
        if grant.redirect_uri != given.get("redirect_uri"):
            return "The redirect_uri is not the one of the authorization request."
        if grant.challenge and grant.challenge != challenge(str(given.get("code_verifier", ""))):
            return "The code_verifier does not match the code_challenge."
        if not grant.challenge and given.get("client_secret") is None:
            return "A client without a secret must use PKCE."
        return None

    def _issue(self, grant: AccessGrant) -> JsonObject:
        token = self.state.new_token()
        self.access[token] = AccessGrant(grant.user, grant.scopes, self.state.now() + LIFETIME)
        issued: JsonObject = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": int(LIFETIME.total_seconds()),
        }
        if "offline_access" in grant.scopes or self.state.kind == "datacenter":
            issued["refresh_token"] = self.state.new_token()
            self.refresh[issued["refresh_token"]] = grant
        return issued | {"scope": " ".join(grant.scopes)}

    def grant(self, authorization: str) -> AccessGrant | None:
        """The grant of an access token; None if it is unknown or has expired."""
        scheme, _, token = authorization.partition(" ")
        grant = self.access.get(token.strip()) if scheme.lower() == "bearer" else None
        return grant if grant is not None and grant.expires > self.state.now() else None

    def user(self, authorization: str, method: str, path: str) -> SiteUser | None:
        """The user of an access token, or None if it is not one. Raises Refusal 401 if its scopes are not enough."""
        grant = self.grant(authorization)
        if grant is None:
            return None
        if self.state.kind == "cloud" and not _is_in_scope(grant.scopes, method, path):
            raise Refusal(401, "Unauthorized; scope does not match")
        return self.state.user(grant.user)

    def resources(self, grant: AccessGrant) -> Response:
        scopes = [scope for scope in grant.scopes if scope != "offline_access"]
        site = {"id": self.state.cloud_id, "name": "harbourline", "url": "https://harbourline.example", "avatarUrl": ""}
        return Response(200, [site | {"scopes": scopes}])

    def me(self, grant: AccessGrant) -> Response:
        user = self.state.user(grant.user)
        return Response(200, {"account_id": user.id, "email": user.email, "name": user.display_name})


def challenge(verifier: str) -> str:
    """The S256 challenge of PKCE."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _authorization_problem(query: dict[str, str]) -> str | None:
    if query.get("response_type") != "code":
        return "response_type must be 'code'."
    if query.get("client_id") != CLIENT_ID:
        return f"The client id '{query.get('client_id')}' is unknown. The sandbox knows '{CLIENT_ID}'."
    if not query.get("redirect_uri"):
        return "redirect_uri is required."
    if query.get("code_challenge") and query.get("code_challenge_method") != "S256":
        return "code_challenge_method must be 'S256'."
    return None


def _parameters(content: bytes) -> JsonObject:
    """The parameters of a token request: JSON as Atlassian documents it, or a form as the standard has it."""
    text = content.decode("utf-8", "replace")
    try:
        given: Any = json.loads(text)
    except ValueError:
        return {name: values[-1] for name, values in parse_qs(text).items()}
    return cast(JsonObject, given) if isinstance(given, dict) else {}


def _is_in_scope(scopes: tuple[str, ...], method: str, path: str) -> bool:
    """Whether a scope such as read:jira-work or write:page:confluence allows this kind of request."""
    product = "confluence" if path.startswith("/wiki") else "servicedesk" if "servicedesk" in path else "jira"
    is_search = path.endswith(("/search/jql", "/approximate-count", "/bulkfetch", "/users-bulk", "/list", "/parse"))
    verbs = ("read", "search") if method == "GET" or is_search else ("write", "delete", "manage")
    return any(scope.startswith(verbs) and product in scope for scope in scopes)
