from collections.abc import Iterator

import pytest

from tests.clients.demo_server import DEMO
from tests.clients.over_http import served
from tests.forkserver.commands import command_path


@pytest.fixture(scope="session")
def demo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the demo over HTTP."""
    with served([command_path("python"), DEMO], tmp_path_factory.mktemp("demo") / "http.log") as url:
        yield url
