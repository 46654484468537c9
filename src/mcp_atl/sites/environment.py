"""Sites from the environment, under the names that Atlassian servers commonly use.

ATLASSIAN_URL, ATLASSIAN_EMAIL, ATLASSIAN_API_TOKEN       one Cloud site with both products
JIRA_URL, JIRA_USERNAME, JIRA_API_TOKEN                   Jira alone, or on a host of its own
JIRA_URL, JIRA_PERSONAL_TOKEN                             Jira Data Center
CONFLUENCE_URL, CONFLUENCE_USERNAME, ...                  the same for Confluence
ATLASSIAN_CLOUD_ID                                        for a scoped token: use the gateway api.atlassian.com
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from mcp_atl.site import Access, AtlassianSite, Credentials, Kind, Secret

CLOUD_HOSTS = (".atlassian.net", ".jira.com", ".atlassian.com")


def access_from_environment(variables: Mapping[str, str]) -> Access | None:
    """The site that the environment describes; None where it describes none."""
    shared = variables.get("ATLASSIAN_URL") or None
    jira, confluence = variables.get("JIRA_URL") or shared, variables.get("CONFLUENCE_URL") or shared
    address = jira or confluence
    if address is None:
        return None
    site = AtlassianSite(
        name=urlsplit(address).hostname or address,
        kind=kind_of(address),
        jira_url=site_root(jira),
        confluence_url=site_root(confluence),
        cloud_id=variables.get("ATLASSIAN_CLOUD_ID") or None,
        ca_file=variables.get("ATLASSIAN_CA_FILE") or variables.get("REQUESTS_CA_BUNDLE") or None,
        client_cert=variables.get("ATLASSIAN_CLIENT_CERT") or None,
        client_key=variables.get("ATLASSIAN_CLIENT_KEY") or None,
        proxy=variables.get("ATLASSIAN_PROXY") or None,
    )
    return Access(site, _credentials(variables, "JIRA"), _credentials(variables, "CONFLUENCE"))


def kind_of(address: str) -> Kind:
    """Cloud sites have a host of Atlassian's; all others are Data Center."""
    host = urlsplit(address).hostname or ""
    return "cloud" if host.endswith(CLOUD_HOSTS) else "datacenter"


def site_root(address: str | None) -> str | None:
    """The address that paths are joined to. On Cloud, the paths of Confluence begin with /wiki themselves."""
    if address is None:
        return None
    root = address.rstrip("/")
    return root.removesuffix("/wiki") if kind_of(root) == "cloud" else root


def _credentials(variables: Mapping[str, str], product: str) -> Credentials:
    def value(*names: str) -> str:
        keys = (f"{owner}_{name}" for owner in (product, "ATLASSIAN") for name in names)
        return next(filter(None, map(variables.get, keys)), "")

    if token := value("PERSONAL_TOKEN", "OAUTH_TOKEN"):
        return Credentials("bearer", secret=Secret(token))
    user, secret = value("USERNAME", "EMAIL", "USER"), value("API_TOKEN", "TOKEN", "PASSWORD")
    return Credentials("basic", user, Secret(secret)) if secret else Credentials()
