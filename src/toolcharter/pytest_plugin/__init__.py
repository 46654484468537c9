"""A pytest plugin: one line in a project's conftest.py makes each declared example of its servers a test.

Each rule of `toolcharter verify` that finds something is a failing test beside them.

    toolcharter_servers = ["my_package.app:build"]    # names of installed servers, files or module:object

The tests are collected below that conftest.py: `pytest tests/conftest.py` runs nothing else. Every pytest run loads
this module where toolcharter is installed, so it imports nothing until a conftest.py names a server.
"""

from pathlib import Path
from typing import Any, cast

import pytest

from toolcharter.pytest_plugin.named import servers_in


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a conftest.py that names servers."""
    if file_path.name != "conftest.py" or not servers_in(file_path, parent.config):
        return None
    from toolcharter.pytest_plugin.servers import ServersFile  # noqa: PLC0415 - 250 ms, with the framework

    return cast(Any, ServersFile).from_parent(parent, path=file_path)
