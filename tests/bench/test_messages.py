"""The requests of the load generator are those of the recorded clients."""

import asyncio

import pytest

from bench import load, messages
from bench.real_clients import CLIENTS, conditions

SPOKEN = dict.fromkeys((client, era) for client in CLIENTS for era, _ in conditions(client))


@pytest.mark.parametrize(("client", "era"), SPOKEN)
def test_a_request_is_byte_for_byte_what_the_client_sends(client: str, era: str):
    sent = messages.recorded(client, era)
    number, arguments = sent.body["id"], sent.body["params"]["arguments"]
    body = messages.request(era, number, "tools/call", client=client, name="add", arguments=arguments)
    session = "SESSION" if era == messages.LEGACY else None
    pieces = messages.post(8000, body, era, session, client=client)
    assert len(pieces) == sent.writes
    assert b"".join(pieces) in {path.read_bytes() for path in messages.REQUESTS.glob("*.http")}


def test_the_agents_sdk_sends_the_head_of_the_python_sdk():
    assert messages.recorded("agents", messages.MODERN).head == messages.recorded("sdk", messages.MODERN).head


def test_a_request_may_lack_what_its_method_does_not_have_and_carry_a_token():
    listed = messages.request(messages.MODERN, 1, "tools/list")
    head = messages.post(8000, listed, messages.MODERN, token="ana")[0].decode()
    assert "\r\nauthorization: Bearer ana\r\n" in head
    assert "mcp-name" not in head
    assert "mcp-session-id" not in b"".join(messages.post(8000, messages.INITIALIZE, messages.LEGACY)).decode()


def test_a_request_is_sent_in_as_many_writes_as_it_has_pieces():
    class Transport:
        def __init__(self) -> None:
            self.writes: list[bytes] = []

        def is_closing(self) -> bool:
            return False

        def write(self, data: bytes) -> None:
            self.writes.append(data)
            if b"{}" in data:
                wire.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    async def writes_of(*pieces: bytes) -> list[bytes]:
        transport = Transport()
        wire.connection_made(transport)
        await wire.ask(*pieces)
        return transport.writes

    wire = load.Wire()
    assert asyncio.run(writes_of(b"POST {}")) == [b"POST {}"]
    assert asyncio.run(writes_of(b"POST ", b"{}")) == [b"POST ", b"{}"]
