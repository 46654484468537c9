"""Everything that a server needs, installed into a folder, for a bundle that brings its own libraries."""

import subprocess
import sys
from pathlib import Path

from toolcharter.packaging.published import CannotPackage, PublishedServer


def install_libraries(server: PublishedServer, folder: Path) -> None:
    """Install the server and what it requires, for this platform and this Python."""
    wanted = str(server.folder) if server.folder else server.launch.requirement(pinned=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    done = subprocess.run(  # noqa: S603 - pip of this environment
        [*command, "--target", str(folder), wanted], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "ERROR" in line), "pip is not installed here")
        raise CannotPackage(f"The libraries of {server.name!r} cannot be installed for its bundle. {reason}")
