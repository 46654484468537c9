"""One rule a file, in a folder for each family. `all_rules` finds them."""

import importlib
import pkgutil
from functools import cache

from toolcharter.verify.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by id. A module below this one that has a `RULE` is one."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        rule = getattr(importlib.import_module(module.name), "RULE", None)
        if isinstance(rule, Rule):
            if rule.id in found:
                raise RuntimeError(f"two rules have the id {rule.id}: {found[rule.id].name} and {rule.name}")
            found[rule.id] = rule
    return tuple(rule for _, rule in sorted(found.items()))
