"""Serve MCP servers over HTTP on one port, each at /NAME/mcp, with their documentation on a page at /."""

import argparse
import os

from mcp_core import mcp_log
from mcp_core.app import App
from mcp_core.hosts.site.serving import serve_http
from mcp_core.otlp import set_up_export
from mcp_core.settings import add_options, from_options, settings_type
from toolcharter import targets


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
    serve_http([_load(target, options) for target in targets.choose(options.servers)], settings)
    return os.EX_OK


def _load(target: str, options: argparse.Namespace) -> App:
    found = targets.find(target)
    server = targets.build(found, target, from_options(options, settings_type(found), target))
    return targets.require_app(server, target)
