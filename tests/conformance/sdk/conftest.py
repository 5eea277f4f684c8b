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
def routed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start a relay with the route that the test file names in ``ROUTE``. The simulated upstream serves the route."""
    directory = tmp_path_factory.mktemp(request.module.ROUTE)
    with SimulatedProvider(directory) as provider:
        root = provider.url.removesuffix("/v1")
        settings = directory / "relaybook.toml"
        settings.write_text(f'[routes.{request.module.ROUTE}]\nupstream = "{root}"\n')
        with Server(directory, provider.url, "--config", str(settings)) as server:
            yield World(server, provider)


@pytest.fixture(params=["direct", "relayed"])
def base_url(request: pytest.FixtureRequest, routed: World) -> str:
    """Return the base URL of the simulated upstream, or of the route in front of it."""
    if request.param == "direct":
        return routed.provider.url.removesuffix("/v1")
    return f"http://127.0.0.1:{routed.server.port}/{request.module.ROUTE}"


@pytest.fixture(params=["sync", "async"])
def style(request: pytest.FixtureRequest) -> str:
    """Return the kind of SDK client that makes the calls: ``sync`` or ``async``."""
    return str(request.param)
