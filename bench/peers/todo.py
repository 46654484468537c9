"""The todo server, as `mcp-todo http` serves it, on the database that BENCH_DB names."""

import os
from typing import Any

from mcp_core import Settings
from mcp_todo.app import build
from toolcharter.serving.server import Site


def http_app(_: int) -> Any:
    return Site([build(Settings(db=os.environ["BENCH_DB"], grants=None))], "http://127.0.0.1")
