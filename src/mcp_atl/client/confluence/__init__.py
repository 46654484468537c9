"""The Confluence APIs. The two answer in different shapes; both are brought to those of `api`."""

from mcp_atl.client.confluence.api import ConfluenceApi, ConfluencePage, PageRestriction
from mcp_atl.client.confluence.cloud import CloudConfluence
from mcp_atl.client.confluence.data_center import DataCenterConfluence
from mcp_atl.client.connection import SiteConnection

__all__ = ["ConfluenceApi", "ConfluencePage", "PageRestriction", "confluence"]


def confluence(client: SiteConnection) -> ConfluenceApi:
    """The API of the site behind a client."""
    return CloudConfluence(client) if client.site.is_cloud else DataCenterConfluence(client)
