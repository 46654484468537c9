"""A server that `toolcharter new` made, installed into an environment of its own."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import uv

PATIENCE = 100


@dataclass(frozen=True)
class NewServer:
    """The folder of a project, and the programs of its environment."""

    folder: Path

    def program(self, name: str) -> str:
        return str(self.folder / ".venv" / "bin" / name)

    def run(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in its folder, as its owner would."""
        return subprocess.run(
            [self.program(name), *words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False
        )


def make_server(parent: Path, *words: str) -> NewServer:
    """Run `toolcharter new weather`, and install what it wrote, without a package index.

    The environment sees the packages of this one, toolcharter among them.
    """
    toolcharter = Path(sysconfig.get_path("scripts"), "toolcharter")
    _run(parent, str(toolcharter), "new", "weather", *words)
    server = NewServer(parent / "mcp-weather")
    _run(server.folder, uv.find_uv_bin(), "venv", "--quiet", "--python", sys.executable)
    packages = next((server.folder / ".venv" / "lib").glob("python*")) / "site-packages"
    # addsitedir reads the .pth files there too, which editable installs have.
    (packages / "this.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    options = ["--quiet", "--offline", "--no-deps", "--no-build-isolation", "--editable", ".[test]"]
    _run(server.folder, uv.find_uv_bin(), "pip", "install", *options)
    for name in ("toolcharter", "pytest"):
        program = Path(server.program(name))
        program.write_text(f"#!{server.program('python')}\n" + Path(sysconfig.get_path("scripts"), name).read_text())
        program.chmod(0o755)
    return server


def _run(folder: Path, *command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(command, cwd=folder, check=True, timeout=PATIENCE, env=environment, stdout=subprocess.DEVNULL)
