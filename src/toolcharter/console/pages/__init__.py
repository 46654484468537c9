"""All pages, one in each file. A file is found by itself; its `PAGES` are what it answers."""

import importlib
import pkgutil
from functools import cache

from toolcharter.console.page import ConsolePage


@cache
def all_pages() -> tuple[ConsolePage, ...]:
    """The pages of each module in this folder."""
    modules = [importlib.import_module(found.name) for found in pkgutil.iter_modules(__path__, f"{__name__}.")]
    return tuple(page for module in modules for page in module.PAGES)
