"""The socket that a site listens on, and its address: a port or a unix socket, with or without TLS."""

import errno
import os
import socket
import ssl
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from mcp_core.hosts.callers import EVERYWHERE
from mcp_core.process.start_errors import CannotStart, InvalidSetting
from mcp_core.settings.model import Settings

BACKLOG = 2048
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_UNIX_MODE = 0o660
"""A proxy connects as a member of the group."""


def is_local(settings: Settings) -> bool:
    """Whether only this machine can connect."""
    return settings.unix_socket is not None or settings.host in LOOPBACK


def listen(settings: Settings) -> socket.socket:
    """Open the socket. Clients can connect from here on, so the address works as soon as it is printed."""
    return _listen_unix(settings.unix_socket) if settings.unix_socket else _listen_tcp(settings)


def base_url(settings: Settings, listener: socket.socket) -> str:
    """The address of the site for people and clients. A unix socket has no URL; it answers to `localhost`."""
    scheme = "https" if settings.tls_cert else "http"
    if settings.unix_socket is not None:
        return f"{scheme}://localhost"
    host = socket.gethostname() if settings.host in EVERYWHERE else settings.host
    port = listener.getsockname()[1]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def tls_options(settings: Settings) -> dict[str, Any]:
    """The options for uvicorn that make it serve TLS."""
    if settings.tls_cert is None:
        if settings.tls_key is not None:
            raise InvalidSetting("--tls-key needs --tls-cert: the certificate that belongs to the key.")
        return {}
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings.tls_cert, settings.tls_key, _refuse_password)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        files = " and ".join(repr(str(file)) for file in (settings.tls_cert, settings.tls_key) if file)
        hint = "" if settings.tls_key else " Name the key with --tls-key, unless it is in the same file."
        problem = f"The TLS certificate and key cannot be read from {files}: {_reason(error)}.{hint}"
        raise InvalidSetting(problem) from None
    return {"ssl_certfile": settings.tls_cert, "ssl_keyfile": settings.tls_key}


def _refuse_password() -> str:
    """OpenSSL would ask for it at the terminal."""
    raise ValueError("the key is encrypted; remove its passphrase")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason or "they are not a PEM certificate and its key"
    return str(getattr(error, "strerror", None) or error)


def _listen_tcp(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With TCP named, asyncio turns Nagle's algorithm off, which would delay each response by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise CannotStart(f"Port {settings.port} on {settings.host} {reason}. Choose another with --port.") from None
    return listener


def _listen_unix(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        previous = os.umask(0o777 & ~_UNIX_MODE)
        try:
            listener.bind(str(path))
        finally:
            os.umask(previous)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        used = error.errno == errno.EADDRINUSE
        reason = "is in use" if used else f"cannot be used ({error.strerror or error})"
        raise CannotStart(f"The socket {str(path)!r} {reason}. Choose another with --unix-socket.") from None
    return listener


def _remove_stale(path: Path) -> None:
    """Remove a socket that no process listens on any more."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
