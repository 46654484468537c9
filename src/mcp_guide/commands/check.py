"""`mcp-guide check [EXPRESSION]`: print what is wrong with the documents."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_guide.app import build
from mcp_guide.settings import GuideSettings
from toolcharter.foreign import print_text


def command(arguments: Sequence[str]) -> int:
    """Run `mcp-guide check` and return the exit code: 1 if anything was found, 2 if it could not be checked."""
    options = _parser().parse_args(arguments)
    given = {name: value for name, value in vars(options).items() if value is not None and name != "expression"}
    is_error, answer = asyncio.run(_check(GuideSettings(**given), options.expression))
    if is_error:
        print_text(answer["error"], file=sys.stderr)
        return 2
    for finding in answer["value"]["findings"]:
        print_text(f"{finding['path']}:{finding['line']}: {finding['problem']} [{finding['rule']}]")
    print_text(answer["message"])
    return 1 if answer["value"]["findings"] else 0


async def _check(settings: GuideSettings, expression: str | None) -> tuple[bool, dict[str, Any]]:
    async with build(settings) as app:
        answer = await app.call("check_documents", {"expression": expression} if expression else {})
        return answer.is_error, json.loads(answer.text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mcp-guide check", description="Find what is wrong with the documents.")
    parser.add_argument("expression", nargs="?", help="only these documents, such as lang; default: all")
    parser.add_argument("--docs-root", type=Path, metavar="DIR", help="folder of the documents")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration of the guide")
    parser.add_argument("--project", metavar="NAME", help="project whose documents are checked")
    return parser
