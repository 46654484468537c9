"""The Atlassian server, as `mcp-atl http` serves it, with a site that repeats recorded answers."""

from typing import Any

from bench.atl_site import RecordedSite
from mcp_atl.app import build
from mcp_atl.settings import AtlSettings
from toolcharter.serving.server import Site


def http_app(_: int) -> Any:
    return Site([build(AtlSettings(sandbox=True), RecordedSite())], "http://127.0.0.1")
