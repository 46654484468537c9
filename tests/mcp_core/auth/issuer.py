"""A small OAuth issuer for tests: authorization code with PKCE, registration, keys that rotate, introspection.

Whoever asks is signed in as `user`, at once. Refresh tokens rotate; one that is used twice ends all of its family.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

RSA_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def public_jwk(key: Any, kid: str, **fields: Any) -> dict[str, Any]:
    algorithm = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    return {**json.loads(algorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig", **fields}


class Issuer:
    def __init__(self, url: str = "http://localhost:9/issuer", user: str = "ann") -> None:
        self.url, self.user = url, user
        self.keys: dict[str, Any] = {"k1": RSA_KEYS[0]}
        self.more_keys: list[Any] = []
        self.signs_with = "k1"
        self.requests: Counter[str] = Counter()
        self.status = 200
        self.hangs = False
        self.metadata_fields: dict[str, Any] = {}
        self.scopes_allowed: set[str] | None = None
        self.clients: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.active: dict[str, dict[str, Any]] = {}
        self.lifetime = 300
        self.forgets_clients = False
        self.gives_refresh_tokens = False
        self.refresh_tokens: dict[str, dict[str, str]] = {}
        """What each refresh token was given for. One that was used has no entry."""
        self.used: set[str] = set()
        self.given: list[str] = []
        """Every token."""
        self.forms: list[dict[str, str]] = []
        """What the token endpoint was sent."""
        self.app = Starlette(routes=[Route("/{path:path}", self._respond, methods=["GET", "POST"])])

    def rotate(self, kid: str, key: Any = RSA_KEYS[1], *, keep: bool = False) -> None:
        self.keys = {**(self.keys if keep else {}), kid: key}
        self.signs_with = kid

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.url, "sub": self.user, "aud": "https://tools.example", "iat": now, "exp": now + 300}
        return {name: value for name, value in {**claims, **changes}.items() if value is not None}

    def token(self, *, header: dict[str, Any] | None = None, **changes: Any) -> str:
        key = self.keys[self.signs_with]
        algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        headers = {"kid": self.signs_with, "typ": "at+jwt", **(header or {})}
        return jwt.encode(self.claims(**changes), key, algorithm, {k: v for k, v in headers.items() if v is not None})

    # --- HTTP ------------------------------------------------------------------------------------------

    async def _respond(self, request: Request) -> Response:  # noqa: PLR0911 - one for each address
        path = request.url.path.removeprefix("/issuer")
        self.requests[path] += 1
        if self.hangs:
            await asyncio.sleep(60)
        if self.status != 200:
            return Response(status_code=self.status)
        query = dict(request.query_params)
        form = dict(parse_qsl((await request.body()).decode())) if request.method == "POST" else {}
        match path:
            case "/.well-known/openid-configuration" | "/.well-known/oauth-authorization-server/issuer":
                return JSONResponse(self._metadata())
            case "/jwks":
                return JSONResponse({"keys": [*(public_jwk(k, kid) for kid, k in self.keys.items()), *self.more_keys]})
            case "/register":
                return await self._register(request)
            case "/authorize":
                return self._authorize(query)
            case "/token":
                return self._token(request, form)
            case "/revoke":
                self.refresh_tokens.pop(form["token"], None)
                return Response()
            case "/introspect":
                return self._introspect(request, form)
        return Response(status_code=404)

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            **self.metadata_fields,
        }

    async def _register(self, request: Request) -> Response:
        client = {**json.loads(await request.body()), "client_id": secrets.token_hex(8)}
        client["token_endpoint_auth_method"] = "none"
        self.clients[client["client_id"]] = client
        return JSONResponse(client, 201)

    def _authorize(self, query: dict[str, str]) -> Response:
        client = self.clients.get(query["client_id"], {"redirect_uris": [query["redirect_uri"]]})
        assert query["redirect_uri"] in client["redirect_uris"]
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = {**query, "user": self.user}
        answer = {"code": code, "state": query.get("state", ""), "iss": self.url}
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 302)

    def _token(self, request: Request, form: dict[str, str]) -> Response:
        self.forms.append({**form, "authorization": request.headers.get("authorization", "")})
        if self.forgets_clients:
            return JSONResponse({"error": "invalid_client"}, 401)
        match form["grant_type"]:
            case "authorization_code":
                return self._exchange(form)
            case "refresh_token":
                return self._refresh(form)
            case "client_credentials":
                return self._own_token(request, form)
        return JSONResponse({"error": "unsupported_grant_type"}, 400)

    def _exchange(self, form: dict[str, str]) -> Response:
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        assert form["resource"] == asked["resource"]
        wanted = set(asked.get("scope", "").split()) - {"offline_access"}
        scope = " ".join(sorted(wanted if self.scopes_allowed is None else wanted & self.scopes_allowed))
        return self._tokens({**asked, "scope": scope})

    def _refresh(self, form: dict[str, str]) -> Response:
        if form["refresh_token"] in self.used:
            self.refresh_tokens.clear()
        given = self.refresh_tokens.pop(form["refresh_token"], None)
        self.used.add(form["refresh_token"])
        if given is None or given["client_id"] != form.get("client_id", given["client_id"]):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return self._tokens(given)

    def _own_token(self, request: Request, form: dict[str, str]) -> Response:
        if request.headers.get("authorization") != "Basic " + base64.b64encode(b"robot:s3cret").decode():
            return JSONResponse({"error": "invalid_client"}, 401)
        return self._tokens({**form, "client_id": "robot", "user": "robot"})

    def _tokens(self, grant: dict[str, str]) -> Response:
        scope, now = grant.get("scope", ""), int(time.time())
        claims = {"sub": grant["user"], "aud": grant["resource"], "scope": scope, "client_id": grant["client_id"]}
        token = self.token(**claims, exp=now + self.lifetime, jti=secrets.token_hex(4))
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime, "scope": scope}
        if self.gives_refresh_tokens and grant.get("grant_type") != "client_credentials":
            answer["refresh_token"] = secrets.token_hex(16)
            self.refresh_tokens[answer["refresh_token"]] = grant
        self.given += [answer["access_token"], answer.get("refresh_token", token)]
        return JSONResponse(answer)

    def _introspect(self, request: Request, form: dict[str, str]) -> Response:
        if request.headers.get("authorization") != "Basic " + base64.b64encode(b"tools:s3cret").decode():
            return Response(status_code=401)
        return JSONResponse(self.active.get(form["token"], {"active": False}))


@contextmanager
def serving(issuer: Issuer) -> Iterator[Issuer]:
    """The issuer on a port of its own, in a thread."""
    config = uvicorn.Config(issuer.app, port=0, log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    listener.listen()  # so that nobody is refused before the thread runs
    issuer.url = f"http://127.0.0.1:{listener.getsockname()[1]}/issuer"
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield issuer
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listener.close()
