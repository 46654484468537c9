"""Protected-resource metadata (RFC 9728) and challenges (RFC 6750): the way of clients to an access token."""

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from mcp_core.app import App
from mcp_core.auth import Caller
from mcp_core.auth.caller import is_in
from mcp_core.errors import UnknownTool
from mcp_core.hosts.addresses import paths
from mcp_core.text.json_text import JsonObject

WELL_KNOWN = "/.well-known/oauth-protected-resource"


def challenge(app: App, path: str, error: str | None, scopes: Sequence[str] | None = None) -> str:
    """The value of WWW-Authenticate for a request to a path. By default it names the scopes of `requested_scopes`."""
    parameters = {"error": error} if error else {}
    url = _resource_url(app, path)
    if url is not None:
        names = requested_scopes(app) if scopes is None else scopes
        parameters |= {"resource_metadata": _metadata_url(url)} | ({"scope": " ".join(names)} if names else {})
    return " ".join(["Bearer", ", ".join(f'{name}="{value}"' for name, value in parameters.items())]).rstrip()


def metadata_document(apps: Sequence[App], path: str) -> JsonObject | None:
    """The document at a well-known path; None where nothing is described there."""
    suffix = path.removeprefix(WELL_KNOWN).rstrip("/") or "/mcp"
    for app in apps:
        for address in paths(app, apps):
            url = _resource_url(app, address)
            # A proxy may serve the site below a path of its own.
            if url is not None and suffix in (address, urlsplit(url).path):
                return _document(app, url)
    return None


def requested_scopes(app: App) -> tuple[str, ...]:
    """The scopes that clients are asked to request."""
    if app.identity is None or app.identity.access is None:
        return ()
    library = app.library
    parts = [*app.registry.get_all(), *library.prompts, *library.sources]
    permissions = sorted({permission for part in parts for permission in part.permissions})
    return app.settings.scopes or app.identity.permissions.scopes or tuple(permissions)


def missing_scopes(app: App, caller: Caller, tool: str) -> tuple[str, ...]:
    """All scopes to request for calling a tool that the caller may not call; none where scopes would not help."""
    if app.identity is None or caller.scopes is None:
        return ()
    try:
        missing = caller.lacks(app.registry.resolve(tool).permissions)
    except UnknownTool:
        return ()
    if not missing or any(is_in(permission, caller.denied) for permission in missing):
        return ()
    scopes = app.identity.permissions.scopes_for(missing)
    # Clients replace their token: without the scopes that it has they would lose other permissions.
    return () if caller.scopes.issuperset(scopes) else tuple(sorted(caller.scopes.union(scopes)))


def _document(app: App, url: str) -> JsonObject:
    access = app.identity.access if app.identity else None
    scopes = requested_scopes(app)
    return {
        "resource": url,
        "authorization_servers": [access.issuer] if access else [],
        **({"scopes_supported": list(scopes)} if scopes else {}),
        "bearer_methods_supported": ["header"],
        "resource_name": app.title,
    }


def _resource_url(app: App, path: str) -> str | None:
    """The public address of a path; None where no issuer is configured."""
    access = app.identity.access if app.identity else None
    return None if access is None else access.public_url + (path if path.endswith("/mcp") else f"/{app.name}/mcp")


def _metadata_url(resource: str) -> str:
    parts = urlsplit(resource)
    return urlunsplit((parts.scheme, parts.netloc, WELL_KNOWN + parts.path, "", ""))
