import pytest

from tests.atlassian_sandbox.site import Site


@pytest.fixture(params=["cloud", "datacenter"])
def site(request) -> Site:
    """A site of each kind."""
    return Site(request.param)


@pytest.fixture
def cloud() -> Site:
    return Site("cloud")


@pytest.fixture
def datacenter() -> Site:
    return Site("datacenter")
