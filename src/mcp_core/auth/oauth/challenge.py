"""The challenge of a server that refuses a request: `WWW-Authenticate` (RFC 9110, RFC 6750, RFC 9728)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_BETWEEN = re.compile(r"[\s,]*+")
_PARAMETER = re.compile(r'([A-Za-z0-9!#$%&\'*+.^_`|~-]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)("?)|([^\s,"]++))')
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9_-]*+)(?=\s|,|$)")
_OTHER = re.compile(r"[^\s,]++")
_LONGEST = 8192


class Challenge(NamedTuple):
    """The challenge of the scheme `Bearer`."""

    resource_metadata: str | None = None
    scopes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def is_insufficient_scope(self) -> bool:
        """Whether the token is valid, but allows too little."""
        return self.error == "insufficient_scope"


def read_challenge(values: Iterable[str]) -> Challenge:
    """The challenge among the values of the header; an empty one where there is none."""
    for value in values:
        fields = _bearer(value[:_LONGEST])
        if fields is not None:
            scopes = tuple(fields.get("scope", "").split())
            return Challenge(fields.get("resource_metadata"), scopes, fields.get("error"))
    return Challenge()


def _bearer(value: str) -> dict[str, str] | None:
    position, scheme = 0, ""
    found: dict[str, str] | None = None
    while (position := _BETWEEN.match(value, position).end()) < len(value):  # pyright: ignore[reportOptionalMemberAccess]
        if (parameter := _PARAMETER.match(value, position)) is not None:
            quoted, plain = parameter[2], parameter[4]
            if quoted is not None and not parameter[3]:
                break  # the end of the text is missing
            if scheme == "bearer" and found is not None:
                text = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
                found.setdefault(parameter[1].lower(), text)
            position = parameter.end()
        elif (start := _SCHEME.match(value, position)) is not None:
            if found is not None and scheme == "bearer":
                break
            scheme, position = start[1].lower(), start.end()
            found = {} if scheme == "bearer" else found
        else:
            position = _OTHER.match(value, position).end()  # pyright: ignore[reportOptionalMemberAccess]
    return found
