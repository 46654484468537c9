from collections.abc import Iterator

import pytest

from tests.clients.demo_server import demo_over_http


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the demo over HTTP."""
    with demo_over_http(tmp_path_factory.mktemp("demo") / "http.log") as url:
        yield url
