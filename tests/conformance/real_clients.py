"""The Inspector's command line, the TypeScript client, LangChain: each lists the demo's tools and calls one."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tests.clients.demo_server import TOOLS, data_of

PATIENCE = 60.0


@dataclass(frozen=True)
class Attempt:
    """One client over one transport in one era; `problem` is empty where all went well."""

    client: str
    transport: str
    era: str
    problem: str = ""

    @property
    def name(self) -> str:
        return f"{self.client} over {self.transport}, {self.era}"


def attempts(node: str, folder: Path, url: str, command: Sequence[str]) -> list[Attempt]:
    made: list[Attempt] = []
    clients: dict[str, Callable[[str, Path, str, Sequence[str]], tuple[list[str], str]]] = {
        "Inspector": inspector,
        "TypeScript client": typescript,
    }
    every = [(name, talk, era) for (name, talk), era in product(clients.items(), ("legacy", "modern"))]
    # It knows only the older protocol.
    every.append(("LangChain", langchain, "legacy"))
    for (client, talk, era), transport in product(every, ("stdio", "HTTP")):
        try:
            tools, text = talk(node, folder, era, [url] if transport == "HTTP" else command)
            wrong = "" if (tools, data_of(text)) == (TOOLS, 5) else f"it got {tools} and {text}"
        except (subprocess.SubprocessError, ValueError, LookupError) as error:
            wrong = f"{error} {getattr(error, 'stderr', '') or ''}".strip()
        made.append(Attempt(client, transport, era, wrong))
    return made


def inspector(node: str, folder: Path, era: str, target: Sequence[str]) -> tuple[list[str], str]:
    start = [node, str(folder / "node_modules" / ".bin" / "mcp-inspector"), "--cli", "--protocol-era", era]
    listed = json.loads(_run(folder, [*start, "--method", "tools/list", *target]))
    # --tool-arg takes all that follows it up to the next option, so the target stands after another one.
    call = ["--tool-arg", "a=2", "b=3", "--tool-name", "add", "--method", "tools/call"]
    called = json.loads(_run(folder, [*start, *call, *target]))
    return [tool["name"] for tool in listed["tools"]], called["content"][0]["text"]


def typescript(node: str, folder: Path, era: str, target: Sequence[str]) -> tuple[list[str], str]:
    script = Path(__file__).with_name("client.mjs")
    answer = json.loads(_run(folder, [node, str(script), era, *target]))
    return answer["tools"], answer["text"]


def langchain(node: str, folder: Path, era: str, target: Sequence[str]) -> tuple[list[str], str]:
    script = Path(__file__).with_name("langchain_client.py")
    answer = json.loads(_run(folder, [str(folder / "langchain" / "bin" / "python"), str(script), *target]))
    return answer["tools"], answer["text"]


def _run(folder: Path, command: Sequence[str]) -> str:
    # The Inspector keeps a list of servers, in the home folder unless told otherwise.
    environment = os.environ | {"MCP_CATALOG_PATH": str(folder / "catalog.json")}
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return ran.stdout
