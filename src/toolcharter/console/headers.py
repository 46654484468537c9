"""Headers of every response of the console, and the requests that a browser may send."""

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Scripts and styles come from files of ours, and no script can turn text into markup."""

_PORTS = {"http": 80, "https": 443}

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, forms would have the Origin null
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def is_same_origin(request: Request, allowed: tuple[str, ...]) -> bool:
    """Whether a page of this server, or of an allowed origin, sends the request. A missing Origin does not prove it.

    The scheme is not compared: behind a proxy that ends TLS, the server does not know it.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin", "")
    if origin in allowed:
        return True
    try:
        parsed = urlsplit(origin)
        sender = (parsed.hostname, parsed.port)
        here = urlsplit(f"//{request.headers.get('host', '')}")
        is_here = sender in {(here.hostname, here.port), (here.hostname, here.port or _PORTS.get(parsed.scheme))}
    except ValueError:
        return False
    return site == "same-origin" and bool(parsed.hostname) and not parsed.username and is_here
