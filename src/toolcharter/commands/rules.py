"""Rules on the terminal: all of them, or one with its reason and its examples."""

import json
import os
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from toolcharter.verify.rule import Definition, Rule
from toolcharter.verify.selection import read_selector


def list_rules(rules: Sequence[Rule]) -> int:
    """One line a rule."""
    table = Table("id", "severity", "name", "what it finds", box=None, padding=(0, 2, 0, 0))
    for rule in rules:
        table.add_row(rule.id, rule.severity, rule.name, escape(rule.what) + (" (optional)" if rule.optional else ""))
    Console().print(table)
    return os.EX_OK


def explain(text: str, known: Sequence[Rule]) -> int:
    """All about the rules that are meant. Raises UnknownRule."""
    meant = read_selector(text, known).rules
    out = Console(highlight=False)
    for rule in known:
        if rule.id in meant:
            _show(rule, out)
    return os.EX_OK


def _show(rule: Rule, out: Console) -> None:
    out.print(
        f"[bold]{rule.id} {rule.name}[/]  {rule.severity}, {rule.family}{', optional' if rule.optional else ''}\n"
    )
    for text in (rule.what, rule.why, f"Fix: {rule.fix}"):
        out.print(escape(text))
    for word, definitions in (("Found", rule.bad), ("Not found", rule.good)) if rule.bad else ():
        out.print(f"\n[bold]{word}[/]")
        out.print(Syntax(example(definitions), "json", word_wrap=True, background_color="default"))
    out.print()


def example(definitions: Sequence[Definition]) -> str:
    """The tools of an example as JSON; what is left out is as it should be."""
    shown = definitions[0] if len(definitions) == 1 else list(definitions)
    text = json.dumps(shown, ensure_ascii=False, indent=2)
    # What cannot be seen is written out: it is what some rules are about.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
