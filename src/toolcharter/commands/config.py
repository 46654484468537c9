"""Show the effective settings of a server, and where each was written: an option, a variable, a file, or the default.

Options win over environment variables, those over the file of --settings-file, and that over defaults. Secrets are
hidden.
"""

import argparse
import json
import os
import sys

from rich.markup import escape
from rich.table import Table

from mcp_core.foreign.terminal import print_text
from mcp_core.settings.model import Settings, environment_variable, settings_type
from mcp_core.settings.sources import add_options, resolve_settings, shown_value
from toolcharter.local import targets
from toolcharter.output.terminal import TerminalConsole

DEFAULT = "default"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.usage = "%(prog)s [options] [SERVER]"
    parser.add_argument(
        "server",
        nargs="?",
        metavar="SERVER",
        help="an installed server, file.py or module:object",
    )
    parser.add_argument("--all", action="store_true", help="show also what has its default")
    parser.add_argument("--json", action="store_true", help="print JSON, with everything")
    add_options(parser)
    parser.set_defaults(takes_server_options=True)


def run(options: argparse.Namespace) -> int:
    """Print the settings."""
    settings_class = settings_type(targets.find(options.server)) if options.server else Settings
    resolved = resolve_settings(options, settings_class, options.server)
    names = [name for name in settings_class.model_fields if name not in settings_class.unused]
    rows = [(name, shown_value(name, getattr(resolved.settings, name)), resolved.sources[name]) for name in names]
    if options.json:
        print_text(json.dumps({name: {"value": value, "source": source} for name, value, source in rows}, indent=2))
        return os.EX_OK
    shown = rows if options.all else [row for row in rows if row[2] != DEFAULT]
    if not shown:
        print_text("Every setting has its default; --all shows them.")
        return os.EX_OK
    if sys.stdout.isatty():
        _print_table(shown)
    else:
        for name, value, source in shown:
            print_text(f"{name} = {'' if value is None else value}  # {source}")
    return os.EX_OK


def _print_table(rows: list[tuple[str, str | None, str]]) -> None:
    table = Table("setting", "value", "from", "variable", box=None, header_style="bold")
    for name, value, source in rows:
        table.add_row(name, escape(value or ""), escape(source), environment_variable(name))
    TerminalConsole().print(table)
