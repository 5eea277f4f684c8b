"""Start one relay for all tests of a module, because a start takes a second. Tests share no connections or names."""

from collections.abc import Iterator

import pytest
from tests.conformance.relay.world import World, new_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_world(tmp_path_factory.mktemp("relay")) as started:
        yield started
