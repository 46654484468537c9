"""Serve MCP servers over HTTP on one port, each at /NAME/mcp, with a web console at /."""

import argparse
import os
import sys

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.foreign.terminal import print_text
from mcp_core.process.install_command import install_command
from mcp_core.settings.model import settings_type
from mcp_core.settings.sources import add_options, from_options
from toolcharter.commands import CannotRun
from toolcharter.console import Console
from toolcharter.local import targets
from toolcharter.serving.http import serve_http
from toolcharter.serving.otlp import set_up_export
from toolcharter.serving.run import log_steps


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [options] [NAME ...]"
    parser.add_argument(
        "servers", nargs="*", metavar="NAME", help="installed servers, files or module:object; default: all installed"
    )
    add_options(parser)
    parser.set_defaults(takes_server_options=True)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is stopped."""
    settings = from_options(options)
    mcp_log.configure(settings.log_level, file=settings.log_file, as_json=settings.log_json)
    set_up_export(settings.otlp, "toolcharter")
    serve_http([_load(target, options) for target in options.servers or _available()], settings, Console)
    return os.EX_OK


def _available() -> list[str]:
    """All installed servers, without those whose libraries are missing, which are named."""
    missing = {name: targets.missing_libraries(name) for name in targets.choose(())}
    reasons = [reason for reason in missing.values() if reason is not None]
    if len(reasons) == len(missing):
        raise reasons[0] if len(reasons) == 1 else CannotRun(_none_available())
    for reason in reasons:
        print_text(f"Not served: {reason}", file=sys.stderr)
    return [name for name, reason in missing.items() if reason is None]


def _none_available() -> str:
    return f"No server has its libraries installed. To install those of all: {install_command('all')}"


def _load(target: str, options: argparse.Namespace) -> App:
    found = targets.find(target)
    server = targets.build(found, target, from_options(options, settings_type(found), target))
    app = targets.require_app(server, target)
    log_steps(app)
    return app
