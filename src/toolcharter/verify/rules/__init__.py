"""All rules, one in each file, in a folder for each family. A file has the name of its rule, and is found by itself."""

import importlib
import pkgutil
from functools import cache

from toolcharter.verify.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by id: the `RULE` of each module below this package."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        rule = getattr(importlib.import_module(module.name), "RULE", None)
        if isinstance(rule, Rule):
            if rule.id in found:
                raise RuntimeError(f"two rules have the id {rule.id}: {found[rule.id].name} and {rule.name}")
            found[rule.id] = rule
    return tuple(rule for _, rule in sorted(found.items()))


@cache
def static_rules() -> tuple[Rule, ...]:
    """The rules that need only the list of tools, by id."""
    return tuple(rule for rule in all_rules() if rule.check_live is None)
