"""The requests of the load generator are those of the recorded clients."""

import asyncio
import json

import pytest

from bench import load, messages
from bench.real_clients import CLIENTS, conditions


@pytest.mark.parametrize(("client", "era"), sorted(tuple(path.stem.split("-", 1)) for path in messages.HEADS.iterdir()))
def test_a_request_is_byte_for_byte_what_the_client_sends(client: str, era: str):
    recorded = json.loads((messages.HEADS / f"{client}-{era}.json").read_text())
    number = json.loads(recorded["body"])["id"]
    body = messages.request(era, number, "tools/call", client=client, name="add", arguments={"a": 40, "b": 80})
    session = "SESSION" if era == messages.LEGACY else None
    pieces = messages.post(8000, body, era, session, client=client)
    assert len(pieces) == recorded["writes"]
    assert b"".join(pieces).decode() == "\r\n".join([*recorded["head"], "", recorded["body"]])


def test_each_client_is_recorded_in_the_protocols_that_it_speaks():
    recorded = {path.stem for path in messages.HEADS.iterdir()}
    assert recorded == {f"{client}-{era}" for client in CLIENTS for era, _ in conditions(client)}
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
