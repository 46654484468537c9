"""Prints rules: a list of all, or one with its reason and examples."""

import json
import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mcp_core.foreign.terminal import print_text
from toolcharter.output.terminal import report_console
from toolcharter.verify.rule import Definition, Rule
from toolcharter.verify.selection import parse_selector


def list_rules(rules: Sequence[Rule]) -> int:
    """Print one line for each rule."""
    if not sys.stdout.isatty():
        print_text(f"{'id':<8}{'severity':<10}{'name':<30}what it finds")
        for rule in rules:
            print_text(
                f"{rule.id:<8}{rule.severity:<10}{rule.name:<30}{rule.what}{' (optional)' if rule.optional else ''}"
            )
        return os.EX_OK
    table = Table("id", "severity", "name", "what it finds", box=None, padding=(0, 2, 0, 0))
    for rule in rules:
        table.add_row(rule.id, rule.severity, rule.name, escape(rule.what) + (" (optional)" if rule.optional else ""))
    report_console().print(table)
    return os.EX_OK


def explain(text: str, known: Sequence[Rule]) -> int:
    """Print everything about the selected rules. Raises UnknownRule."""
    selected = parse_selector(text, known).rules
    out = report_console()
    for rule in known:
        if rule.id in selected:
            _print_rule(rule, out)
    return os.EX_OK


def _print_rule(rule: Rule, out: Console) -> None:
    from rich.syntax import Syntax  # noqa: PLC0415 - 10 ms, not for a verification

    out.print(
        f"[bold]{rule.id} {rule.name}[/]  {rule.severity}, {rule.family}{', optional' if rule.optional else ''}\n"
    )
    for text in (rule.what, rule.why, f"Fix: {rule.fix}"):
        out.print(escape(text))
    for title, definitions in (("Found", rule.bad), ("Not found", rule.good)) if rule.bad else ():
        out.print(f"\n[bold]{title}[/]")
        out.print(Syntax(example_json(definitions), "json", word_wrap=True, background_color="default"))
    out.print()


def example_json(definitions: Sequence[Definition]) -> str:
    """The tools of an example as JSON, with invisible characters escaped: some rules are about them."""
    value = definitions[0] if len(definitions) == 1 else list(definitions)
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
