"""Install the Node SDK, and start one relay with a simulated upstream for all tests of a file."""

from collections.abc import Iterator

import pytest
from tests.conformance.node.node_sdk import install
from tests.conformance.sdk.calls import World
from tests.support.server import Server, SimulatedProvider


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    install()
    directory = tmp_path_factory.mktemp("node")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)
