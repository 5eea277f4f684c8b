"""The relay of one test module, shared because it takes a second to start; connections and names are a test's own."""

from collections.abc import Iterator

import pytest
from tests.conformance.relay.world import World, a_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("relay")) as started:
        yield started
