"""Claims about header names."""

import pytest

from relaybook.relay.names import NameTable, holds_secret


@pytest.mark.parametrize("name", [b"authorization", b"x-goog-api-key", b"my-token", b"cookie", b"client-secret"])
def test_secret_names(name: bytes) -> None:
    assert holds_secret(name)


@pytest.mark.parametrize("name", [b"accept", b"x-ratelimit-reset-tokens", b"openai-organization", b"x-total-tokens"])
def test_names_without_secrets(name: bytes) -> None:
    assert not holds_secret(name)


def test_a_spelling_is_decided_once() -> None:
    decided: list[bytes] = []

    def decide(name: bytes) -> int:
        decided.append(name)
        return 3

    table = NameTable(decide)
    assert table.get(b"Host") is None
    assert table.learn(b"Host") == 3
    assert table.get(b"Host") == 3
    assert decided == [b"host"]


def test_a_flood_of_names_is_not_kept() -> None:
    table = NameTable(lambda name: 0)
    for number in range(10_000):
        table.learn(b"x-%d" % number)
    assert table.get(b"x-1") == 0
    assert table.get(b"x-9999") is None
    table.learn(b"y" * 100)
    assert table.get(b"y" * 100) is None
