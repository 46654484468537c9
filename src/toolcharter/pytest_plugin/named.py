"""The servers that a conftest.py names."""

from pathlib import Path

import pytest

VARIABLE = "toolcharter_servers"


def servers_in(conftest: Path, config: pytest.Config) -> list[str]:
    """The servers that a conftest.py names; pytest has already imported it."""
    modules = [p for p in config.pluginmanager.get_plugins() if getattr(p, "__file__", None) == str(conftest)]
    return list(getattr(modules[0], VARIABLE, [])) if modules else []
