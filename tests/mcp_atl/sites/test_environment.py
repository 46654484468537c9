from mcp_atl.site import Credentials, Secret
from mcp_atl.sites.environment import access_from_environment


def test_what_a_client_passes_on_empty_is_not_set():
    assert access_from_environment({"ATLASSIAN_URL": "", "JIRA_URL": "", "ATLASSIAN_API_TOKEN": ""}) is None


def test_without_an_address_there_is_no_site():
    assert access_from_environment({"JIRA_API_TOKEN": "t"}) is None


def test_one_cloud_site_has_both_products():
    access = access_from_environment(
        {
            "ATLASSIAN_URL": "https://acme.atlassian.net/wiki/",
            "ATLASSIAN_EMAIL": "ann@example.com",
            "ATLASSIAN_API_TOKEN": "t",
        }
    )
    assert access is not None
    assert (access.site.name, access.site.kind) == ("acme.atlassian.net", "cloud")
    assert access.site.base_url("confluence") == "https://acme.atlassian.net"
    assert access.jira == access.confluence == Credentials("basic", "ann@example.com", Secret("t"))


def test_the_products_of_data_center_have_their_own_addresses_and_tokens():
    access = access_from_environment(
        {
            "JIRA_URL": "https://jira.example/",
            "JIRA_PERSONAL_TOKEN": "j",
            "CONFLUENCE_URL": "https://wiki.example/confluence",
            "CONFLUENCE_USERNAME": "ann",
            "CONFLUENCE_PASSWORD": "c",
        }
    )
    assert access is not None
    assert access.site.kind == "datacenter"
    assert access.site.base_url("confluence") == "https://wiki.example/confluence"
    assert access.jira.header == "Bearer j"
    assert access.confluence.header == "Basic YW5uOmM="


def test_a_scoped_token_goes_through_the_gateway():
    access = access_from_environment({"ATLASSIAN_URL": "https://acme.atlassian.net", "ATLASSIAN_CLOUD_ID": "c-1"})
    assert access is not None
    assert access.site.base_url("jira") == "https://api.atlassian.com/ex/jira/c-1"
