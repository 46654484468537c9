"""What the type checker says of a few lines of a user's code."""

import json
import subprocess
import sys
from pathlib import Path

import mcp_core


def type_errors(folder: Path, source: str) -> list[tuple[int, str]]:
    """The line and the rule of each error."""
    (folder / "checked.py").write_text(source)
    sources = Path(mcp_core.__file__).parent.parent
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": ["."], "extraPaths": [str(sources)]}))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [(one["range"]["start"]["line"] + 1, one["rule"]) for one in found if one["severity"] == "error"]
