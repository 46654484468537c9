"""The guide server, as `mcp-guide http` serves it, on the documents that BENCH_DOCS names."""

import os
from pathlib import Path
from typing import Any

from mcp_guide.app import build
from mcp_guide.settings import GuideSettings
from toolcharter.serving.server import Site


def http_app(_: int) -> Any:
    docs = Path(os.environ["BENCH_DOCS"])
    settings = GuideSettings(docs_root=docs, config=docs.with_suffix(".yaml"))
    return Site([build(settings)], "http://127.0.0.1")
