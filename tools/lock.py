"""Write constraints.txt: what a fresh install of all extras resolves to, on each Python that is named.

    python tools/lock.py [PYTHON ...]

Name the oldest Python first: what it resolves to binds the newer ones, so each package has one version.
Only names and versions are written, so the file is the same whichever index pip is set up to use.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# What this release is tested with: every dependency of every extra, pinned. Written by tools/lock.py.
# To renew it: make lock (with all supported Pythons: make lock PYTHONS="python3.11 python3.12 python3.13").
"""


def extras() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(project["optional-dependencies"])


def pins(versions: dict[str, str]) -> str:
    return "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def resolve(python: str, known: dict[str, str]) -> dict[str, str]:
    """Ask the pip of one interpreter what it would install, without installing it."""
    with tempfile.TemporaryDirectory() as folder:
        report, constraints = Path(folder, "report.json"), Path(folder, "constraints.txt")
        constraints.write_text(pins(known), encoding="utf-8")
        options = ["-qq", "--dry-run", "--ignore-installed"]
        options += ["--report", str(report), "--constraint", str(constraints)]
        target = f"{ROOT}[{','.join(extras())}]"
        subprocess.run([python, "-m", "pip", "install", *options, target], check=True)
        installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    found = {normal(entry["metadata"]["name"]): entry["metadata"]["version"] for entry in installs}
    del found["toolcharter"]
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(pythons: list[str]) -> None:
    known: dict[str, str] = {}
    for python in pythons or [sys.executable]:
        print(f"lock: resolving all extras with {Path(python).name} ...", flush=True)
        known |= resolve(python, known)
    (ROOT / "constraints.txt").write_text(HEADER + pins(known), encoding="utf-8")
    print(f"lock: {len(known)} packages in constraints.txt")


if __name__ == "__main__":
    main(sys.argv[1:])
