"""Test how header names are recognized, and how their handlers are cached."""

import pytest

from relaybook.relay.header_rules import Handler, HeaderRules, drop, holds_secret


@pytest.mark.parametrize("name", [b"authorization", b"x-goog-api-key", b"my-token", b"cookie", b"client-secret"])
def test_secret_headers_are_recognized_by_name(name: bytes) -> None:
    assert holds_secret(name)


@pytest.mark.parametrize("name", [b"accept", b"x-ratelimit-reset-tokens", b"openai-organization", b"x-total-tokens"])
def test_other_header_names_hold_no_secret(name: bytes) -> None:
    assert not holds_secret(name)


def test_a_spelling_is_resolved_once() -> None:
    decided: list[bytes] = []

    def decide(name: bytes) -> Handler[object] | None:
        decided.append(name)
        return drop

    table = HeaderRules(decide)
    assert b"Host" not in table.cached
    assert table.resolve(b"Host") is drop
    assert table.cached[b"Host"] is drop
    assert decided == [b"host"]


def test_the_number_of_cached_names_is_limited() -> None:
    table: HeaderRules[object] = HeaderRules(lambda name: None)
    for number in range(10_000):
        table.resolve(b"x-%d" % number)
    table.resolve(b"y" * 100)
    assert b"x-1" in table.cached
    assert b"x-9999" not in table.cached
    assert b"y" * 100 not in table.cached
