"""The commands of the image, run without a container: there is no registry to build one from."""

import json
import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.over_http import served
from toolcharter.packaging.image import DATA, PORT, compose_file, dockerfile
from toolcharter.packaging.published import read_server

PROGRAMS = Path(sysconfig.get_path("scripts"))
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def create_words(text: str) -> str:
    """How a token is made, as the first lines of the Dockerfile say."""
    return re.search(r"--entrypoint toolcharter todo:\S+ (token create .*)", text)[1]


@pytest.mark.requirement("PKG-3")
def test_the_image_makes_a_token_starts_is_healthy_and_lets_its_owner_in(tmp_path: Path):
    server = read_server("todo", namespace="io.github.toolcharter")
    text = dockerfile(server, tmp_path).replace(DATA, str(tmp_path))
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}

    create = shlex.split(create_words(text))
    made = subprocess.run([PROGRAMS / "toolcharter", *create], capture_output=True, text=True, check=True)
    token = made.stdout.split()[-1]
    assert f"server {create_words(text)}\n" in compose_file(server, tmp_path).replace(DATA, str(tmp_path))

    entry, words = (
        json.loads(re.search(rf"^{name} (\[.*\])$", text, re.MULTILINE)[1]) for name in ("ENTRYPOINT", "CMD")
    )
    port = words.index("--port")
    options = [*words[1:port], *words[port + 2 :]]
    with served([str(PROGRAMS / entry[0]), *options], tmp_path / "log", environment) as url:
        own_port = url.split(":")[2].split("/")[0]
        health = json.loads(re.search(r"^    CMD (\[.*\])$", text, re.MULTILINE)[1])
        check = [word.replace(f":{PORT}/", f":{own_port}/") for word in health[1:]]
        subprocess.run([PROGRAMS / "python", *check], check=True, timeout=60)
        # As it is reached through a published port.
        accept = "application/json, text/event-stream"
        headers = {"Host": f"127.0.0.1:{PORT}", "Mcp-Method": "tools/list", "Accept": accept}
        headers["MCP-Protocol-Version"] = META["io.modelcontextprotocol/protocolVersion"]
        request = LIST | {"params": {"_meta": META}}
        address = f"http://127.0.0.1:{own_port}/mcp"
        refused = httpx2.post(address, json=request, headers=headers)
        answered = httpx2.post(address, json=request, headers=headers | {"Authorization": f"Bearer {token}"})
    assert (refused.status_code, answered.status_code) == (401, 200), answered.text
    assert answered.json()["result"]["tools"][0]["name"] == "add_task"
