"""Claims about header names."""

import pytest

from relaybook.relay.header_rules import Handler, NameTable, drop, holds_secret


@pytest.mark.parametrize("name", [b"authorization", b"x-goog-api-key", b"my-token", b"cookie", b"client-secret"])
def test_secret_names(name: bytes) -> None:
    assert holds_secret(name)


@pytest.mark.parametrize("name", [b"accept", b"x-ratelimit-reset-tokens", b"openai-organization", b"x-total-tokens"])
def test_names_without_secrets(name: bytes) -> None:
    assert not holds_secret(name)


def test_a_spelling_is_decided_once() -> None:
    decided: list[bytes] = []

    def decide(name: bytes) -> Handler[object] | None:
        decided.append(name)
        return drop

    table = NameTable(decide)
    assert b"Host" not in table.known
    assert table.learn(b"Host") is drop
    assert table.known[b"Host"] is drop
    assert decided == [b"host"]


def test_a_flood_of_names_is_not_kept() -> None:
    table: NameTable[object] = NameTable(lambda name: None)
    for number in range(10_000):
        table.learn(b"x-%d" % number)
    table.learn(b"y" * 100)
    assert b"x-1" in table.known
    assert b"x-9999" not in table.known
    assert b"y" * 100 not in table.known
