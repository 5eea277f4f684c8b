"""Start the servers that the SDKs talk to, once for all tests of a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.sdk.calls import World
from tests.support.server import Server, SimulatedProvider


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start a relay. A test file can name a preset as the fixture's parameter, so that clients use this route."""
    route = getattr(request, "param", "")
    directory = tmp_path_factory.mktemp("sdk")
    with SimulatedProvider() as provider:
        flags = ["--config", str(write_route(directory, route, provider))] if route else ["--price-as", "openai"]
        with Server(directory, provider.url, *flags) as server:
            yield World(server, provider, route)


def write_route(directory: Path, name: str, provider: SimulatedProvider) -> Path:
    """Write a settings file with a route of a preset, which the simulated upstream serves. Returns its path."""
    settings = directory / "relaybook.toml"
    settings.write_text(f'[routes.{name}]\nupstream = "{provider.url.removesuffix("/v1")}"\n')
    return settings


@pytest.fixture(scope="module")
def routed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start a relay with the route that the test file names in ``ROUTE``. The simulated upstream serves the route."""
    directory = tmp_path_factory.mktemp(request.module.ROUTE)
    with SimulatedProvider() as provider:
        settings = write_route(directory, request.module.ROUTE, provider)
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
