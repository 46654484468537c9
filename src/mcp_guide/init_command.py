"""`mcp-guide init`: a small set of documents to begin with."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mcp_core import ToolError
from mcp_guide import model
from mcp_guide.configuration_file import ConfigurationFile, default_path
from mcp_guide.settings import GuideSettings, default_docs_root

STARTER = Path(__file__).parent / "starter"


class Written(NamedTuple):
    """What became of the starter set, as paths below the docs root."""

    made: list[str]
    kept: list[str]
    """What was there before, and was left as it is."""


def command(words: Sequence[str]) -> int:
    """Write the starter set and say so. The answer is the exit code."""
    options = _parser().parse_args(words)
    settings = GuideSettings()
    try:
        root = (options.docs_root or _root(settings, options.config or settings.config or default_path())).absolute()
        written = write_starter(root)
    except (OSError, ToolError) as error:
        sys.stderr.write(f"mcp-guide init cannot write the documents: {error}\n")
        return 1
    sys.stdout.write(_report(root, written, is_default=root == default_docs_root()))
    return 0


def write_starter(root: Path) -> Written:
    """Put the starter set below a folder. A file that is there is never touched."""
    made: list[str] = []
    kept: list[str] = []
    for source in sorted(STARTER.rglob("*.md")):
        name = source.relative_to(STARTER).as_posix()
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(source.read_text(encoding="utf-8"))
        except FileExistsError:
            kept.append(name)
        else:
            made.append(name)
    return Written(made, kept)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-guide init", description="Write a small set of documents to begin with. Never overwrites a file."
    )
    parser.add_argument(
        "--docs-root", type=Path, metavar="DIR", help="folder to write to [TOOLCHARTER_DOCS_ROOT]; default: as served"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration of the guide [TOOLCHARTER_CONFIG]")
    return parser


def _root(settings: GuideSettings, config: Path) -> Path:
    """Where the server will look: what it was given, else what the configuration says."""
    configuration = ConfigurationFile(config).read()
    default = model.find_project(configuration, model.DEFAULT_PROJECT)
    return model.document_root(configuration, default, settings.docs_root, default_docs_root())


def _report(root: Path, written: Written, *, is_default: bool) -> str:
    lines = [f"Wrote {len(written.made)} documents to {root}"]
    folders = dict.fromkeys(Path(name).parent.as_posix() for name in written.made)
    for folder in folders:
        names = [Path(name).stem for name in written.made if Path(name).parent.as_posix() == folder]
        lines.append(f"  {folder}: {', '.join(names)}")
    if written.kept:
        lines.append(f"Left as they were: {', '.join(written.kept)}")
    where = "" if is_default else f"TOOLCHARTER_DOCS_ROOT={shlex.quote(str(root))} "
    option = "" if is_default else f" --docs-root {shlex.quote(str(root))}"
    return "\n".join(
        [
            *lines,
            "Each folder is a category. Edit the documents, add your own, and commit them like code.",
            "Try it:",
            f"  {where}toolcharter call guide get_content expression=lang/python",
            "Give it to your agent (start it in a terminal to see the configuration for a client):",
            f"  mcp-guide{option}",
            "",
        ]
    )
