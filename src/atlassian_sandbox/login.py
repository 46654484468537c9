"""Who sends a request: an API token or password with Basic, a personal access token with Bearer."""

import base64
import binascii

from atlassian_sandbox.http import Refusal
from atlassian_sandbox.model import SiteUser
from atlassian_sandbox.state import SiteState


def authenticate(state: SiteState, authorization: str, *, behind_gateway: bool = False) -> SiteUser:
    """The user of a request. Raises Refusal 401 for credentials that the site does not know."""
    if not authorization:
        if state.default_user is None:
            raise Refusal(401, "Client must be authenticated to access this resource.")
        return state.user(state.default_user)
    scheme, _, secret = authorization.partition(" ")
    user, token = _basic(state, secret) if scheme.lower() == "basic" else _bearer(state, secret)
    if user is None or not user.active or (token in state.scoped_tokens and not behind_gateway):
        raise Refusal(401, "Client must be authenticated to access this resource.")
    return user


def _basic(state: SiteState, encoded: str) -> tuple[SiteUser | None, str]:
    try:
        name, _, token = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None, ""
    user = state.find_user(name)
    return (user, token) if user is not None and state.tokens.get(token) == user.id else (None, "")


def _bearer(state: SiteState, token: str) -> tuple[SiteUser | None, str]:
    return state.users.get(state.tokens.get(token.strip(), "")), token.strip()
