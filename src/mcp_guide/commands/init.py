"""`mcp-guide init`: write a set of starter documents."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mcp_guide import model
from mcp_guide.configuration.file import ConfigurationFile
from mcp_guide.settings import STARTER_FOLDER, GuideSettings, default_config_path, default_docs_root
from toolcharter import ToolError
from toolcharter.foreign import print_text


class StarterFiles(NamedTuple):
    """The files of the starter set, as paths below the document root."""

    written: list[str]
    existing: list[str]
    """Not changed."""


def command(arguments: Sequence[str]) -> int:
    """Run `mcp-guide init` and return the exit code."""
    options = _parser().parse_args(arguments)
    settings = GuideSettings()
    try:
        config = options.config or settings.config or default_config_path()
        root = (options.docs_root or _served_root(settings, config)).absolute()
        files = write_starter(root)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}. Choose another folder with --docs-root."
        print_text(f"mcp-guide init cannot write the documents: {reason}", file=sys.stderr)
        return 1
    except ToolError as error:
        print_text(f"mcp-guide init cannot write the documents: {error}", file=sys.stderr)
        return 1
    print_text(_report(root, files, is_default=root == default_docs_root()), end="")
    return 0


def write_starter(root: Path) -> StarterFiles:
    """Write the starter set below a folder. Existing files are not changed."""
    written: list[str] = []
    existing: list[str] = []
    for source in sorted(STARTER_FOLDER.rglob("*.md")):
        name = source.relative_to(STARTER_FOLDER).as_posix()
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(source.read_text(encoding="utf-8"))
        except FileExistsError:
            existing.append(name)
        else:
            written.append(name)
    return StarterFiles(written, existing)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mcp-guide init", description="Write a set of starter documents. Never overwrites a file."
    )
    parser.add_argument(
        "--docs-root",
        type=Path,
        metavar="DIR",
        help="folder to write to [TOOLCHARTER_DOCS_ROOT]; default: where mcp-guide reads",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration of the guide [TOOLCHARTER_CONFIG]")
    return parser


def _served_root(settings: GuideSettings, config: Path) -> Path:
    """The document root that the server reads: from the settings, else from the configuration file."""
    configuration = ConfigurationFile(config).read()
    default = model.find_project(configuration, model.DEFAULT_PROJECT)
    return model.document_roots(configuration, default, settings.docs_root, default_docs_root())[-1]


def _report(root: Path, files: StarterFiles, *, is_default: bool) -> str:
    noun = "document" if len(files.written) == 1 else "documents"
    lines = [f"Wrote {len(files.written)} {noun} to {root}"]
    folders = dict.fromkeys(Path(name).parent.as_posix() for name in files.written)
    for folder in folders:
        names = [Path(name).stem for name in files.written if Path(name).parent.as_posix() == folder]
        lines.append(f"  {folder}: {', '.join(names)}")
    if files.existing:
        lines.append(f"Already there, not changed: {', '.join(files.existing)}")
    option = "" if is_default else f" --docs-root {shlex.quote(str(root))}"
    return "\n".join(
        [
            *lines,
            "Each folder is a category. Edit the documents, add your own, and commit them like code.",
            "Try it:",
            f"  toolcharter call guide{option} get_content expression=lang/python",
            "Add it to your client, such as claude-code, cursor or vscode:",
            f"  toolcharter install claude-code guide{option}",
            "",
        ]
    )
