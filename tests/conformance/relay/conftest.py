"""One relay for all tests of a module, because starting it takes a second. Connections and names are not shared."""

from collections.abc import Iterator

import pytest
from tests.conformance.relay.world import World, new_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_world(tmp_path_factory.mktemp("relay")) as started:
        yield started
