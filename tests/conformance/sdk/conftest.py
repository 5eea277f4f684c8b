"""Start the servers that the SDKs talk to, once for all tests of a file."""

from collections.abc import Iterator

import pytest
from tests.conformance.sdk.calls import World
from tests.support.server import Server, SimulatedProvider


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("sdk")
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, "--price-as", "openai") as server,
    ):
        yield World(server, provider)


@pytest.fixture(scope="module")
def simulator_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a simulated upstream for all tests of a file, without a relay. Returns its URL without a path."""
    with SimulatedProvider(tmp_path_factory.mktemp("simulator")) as provider:
        yield provider.url.removesuffix("/v1")


@pytest.fixture(params=["sync", "async"])
def style(request: pytest.FixtureRequest) -> str:
    """Return the kind of SDK client that makes the calls: ``sync`` or ``async``."""
    return str(request.param)
