"""Checks of how a server behaves when it is called, one a file. They run only where its user asks for them.

All calls are made first, in `probe`; the rules then look at what was seen, so that no rule costs a call of its own.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from toolcharter.verify.engine import Step, verify_live
from toolcharter.verify.live.probe import SECONDS, Running, observe
from toolcharter.verify.rule import Finding, Rule
from toolcharter.verify.subject import Server


@cache
def live_rules() -> tuple[Rule, ...]:
    """The rules that need a running server, by id."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found = [rule for module in modules if isinstance(rule := getattr(module, "RULE", None), Rule)]
    return tuple(sorted(found, key=lambda rule: rule.id))


async def check_live(
    server: Server,
    connection: Running,
    rules: Iterable[Rule],
    *,
    all_tools: bool = False,
    step: Step = lambda _: None,
    seconds: float = SECONDS,
) -> list[Finding]:
    """What calling its tools shows. Those that are not declared read-only are called only with `all_tools`.

    `step` is told the name of each tool before it is called; `seconds` is what a call may take.
    """
    observed = await observe(server, connection, all_tools=all_tools, step=step, seconds=seconds)
    return verify_live(server, observed, rules)
