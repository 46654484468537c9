"""Where a server listens: TLS, unix sockets, and behind a proxy."""

import asyncio
import signal
import socket
import ssl
import stat
from pathlib import Path

import httpx2
import pytest

from mcp_core import App, Settings
from mcp_core.process.start_errors import CannotStart, InvalidSetting
from tests.certificates import write_certificate
from tests.toolcharter.serving.processes import GATE_SERVER, PATIENCE, call, started
from toolcharter.serving.listener import base_url, listen, tls_options
from toolcharter.serving.proxies import TrustedProxies
from toolcharter.serving.server import Site


async def test_a_server_with_a_certificate_serves_tls_and_reads_a_new_one_on_sighup(tmp_path: Path):
    cert, key = write_certificate(tmp_path)
    options = ["--tls-cert", str(cert), "--tls-key", str(key)]
    (tmp_path / "gate").touch()
    with started(GATE_SERVER, "http", "--port", "0", *options) as server:
        base = server.base_url()
        trusted = ssl.create_default_context(cafile=str(cert))
        async with httpx2.AsyncClient(base_url=base, verify=trusted, timeout=PATIENCE) as http:
            answer = await call(http, 1, "wait", gate=str(tmp_path / "gate"))
            own_page = await http.post("/mcp", headers={"Origin": base}, json={})
        cert.write_text("not a certificate")
        server.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(server.read_until, "The old certificate stays in use")
        write_certificate(tmp_path)
        server.process.send_signal(signal.SIGHUP)
        await asyncio.to_thread(server.read_until, "Configuration files were read again", 2)
        renewed = ssl.create_default_context(cafile=str(cert))
        async with httpx2.AsyncClient(base_url=base, verify=renewed, timeout=PATIENCE) as http:
            live = await http.get("/health/live")
    assert live.status_code == 200
    assert base.startswith("https://127.0.0.1:")
    assert "passed" in answer.text
    assert own_page.status_code == 400  # not 403: a page of this server may call it


@pytest.mark.parametrize(
    ("cert", "key", "problem"),
    [
        (None, "key.pem", "--tls-key needs --tls-cert"),
        ("nowhere.pem", None, "No such file or directory"),
        ("cert.pem", None, "Name the key with --tls-key, unless it is in the same file."),
        ("cert.pem", "other.pem", "KEY_VALUES_MISMATCH"),
    ],
)
def test_a_certificate_that_cannot_be_used_is_an_error_at_start(tmp_path: Path, cert, key, problem: str):
    (tmp_path / "other").mkdir()
    write_certificate(tmp_path)
    _, other = write_certificate(tmp_path / "other")
    other.rename(tmp_path / "other.pem")
    settings = Settings(tls_cert=cert and tmp_path / cert, tls_key=key and tmp_path / key)
    with pytest.raises(InvalidSetting, match=problem):
        tls_options(settings)


async def test_a_server_listens_on_a_unix_socket_and_removes_it_at_the_end(tmp_path: Path):
    path = tmp_path / "server.sock"
    (tmp_path / "gate").touch()
    with started(GATE_SERVER, "http", "--unix-socket", str(path)) as server:
        await asyncio.to_thread(server.read_until, "Stop: Ctrl")
        transport = httpx2.AsyncHTTPTransport(uds=str(path))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE) as http:
            answer = await call(http, 1, "wait", gate=str(tmp_path / "gate"))
        mode = stat.S_IMODE(path.stat().st_mode)
        server.process.terminate()
        code = await asyncio.to_thread(server.wait)
    assert "passed" in answer.text
    assert mode == 0o660
    assert (code, path.exists()) == (0, False)
    assert f"Serving 1 MCP server on the unix socket {path}." in server.log


def test_a_unix_socket_that_nobody_listens_on_is_replaced_and_no_other(tmp_path: Path):
    path = tmp_path / "server.sock"
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(path))
    settings = Settings(unix_socket=path)
    with listen(settings) as listener:
        assert base_url(settings, listener) == "http://localhost"
        with pytest.raises(CannotStart, match=r"is in use\. Choose another with --unix-socket"):
            listen(settings)
    path.unlink()
    path.write_text("a file of mine")
    with pytest.raises(CannotStart, match="is in use"):
        listen(settings)
    assert path.read_text() == "a file of mine"


@pytest.mark.parametrize(
    ("client", "forwarded", "found"),
    [
        ("10.1.2.3", "203.0.113.7", "203.0.113.7"),
        ("10.1.2.3", "6.6.6.6, 203.0.113.7", "203.0.113.7"),  # the first was sent by the client itself
        ("10.1.2.3", "203.0.113.7, 10.9.9.9", "203.0.113.7"),  # two proxies
        ("10.1.2.3", "203.0.113.7:4711", "203.0.113.7"),
        ("10.1.2.3", "[2001:db8::1]:443", "2001:db8::1"),
        ("10.1.2.3", "2001:db8::1", "2001:db8::1"),
        ("::ffff:10.1.2.3", "203.0.113.7", "203.0.113.7"),
        ("10.1.2.3", "unknown", "10.1.2.3"),
        ("10.1.2.3", "203.0.113.7, unknown", "10.1.2.3"),
        ("192.168.1.1", "203.0.113.7", "192.168.1.1"),  # not a trusted proxy
        (None, "203.0.113.7", "203.0.113.7"),  # the unix socket
    ],
)
def test_a_trusted_proxy_says_where_a_request_came_from(client: str | None, forwarded: str, found: str):
    headers = [(b"host", b"inner:8000"), (b"x-forwarded-for", forwarded.encode())]
    headers += [(b"x-forwarded-proto", b"https"), (b"x-forwarded-host", b"mcp.example")]
    scope = {"client": client and (client, 4711), "scheme": "http", "headers": headers}
    TrustedProxies(("10.0.0.0/8", "unix")).apply(scope)
    is_trusted = client != "192.168.1.1"
    assert scope["client"][0] == found
    assert scope["scheme"] == ("https" if is_trusted else "http")
    assert dict(scope["headers"])[b"host"] == (b"mcp.example" if is_trusted else b"inner:8000")


def test_a_network_that_is_not_one_is_an_error():
    with pytest.raises(InvalidSetting, match=r"--trusted-proxies: 'proxy\.example' does not appear to be"):
        TrustedProxies(("proxy.example",))


@pytest.mark.parametrize(
    ("trusted", "host", "status"), [((), "mcp.example", 421), (("127.0.0.1",), "mcp.example", 200)]
)
async def test_only_a_trusted_proxy_can_name_the_host(trusted: tuple[str, ...], host: str, status: int):
    settings = Settings(trusted_proxies=trusted, allow_hosts=(host,))
    site = Site([App("demo", version="1.0.0", settings=settings)], "http://127.0.0.1:8000")
    transport = httpx2.ASGITransport(site, client=("127.0.0.1", 4711))
    async with site.open(), httpx2.AsyncClient(transport=transport, base_url="http://10.0.0.7:8000") as http:
        answer = await http.get("/", headers={"X-Forwarded-Host": "mcp.example"})
    assert answer.status_code == status
