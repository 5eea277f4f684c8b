"""Test which address of X-Forwarded-For is the client's."""

import pytest

from relaybook.settings.client_address import client_address

PROXY = "10.0.0.7"


@pytest.mark.parametrize(
    ("remote", "forwarded", "trusted", "expected"),
    [
        ("198.51.100.1", "203.0.113.7", [], "198.51.100.1"),
        ("198.51.100.1", "203.0.113.7", [PROXY], "198.51.100.1"),
        (PROXY, "203.0.113.7", [PROXY], "203.0.113.7"),
        (PROXY, "203.0.113.9, 203.0.113.7", [PROXY], "203.0.113.7"),
        (PROXY, "203.0.113.7, 10.0.0.9", ["10.0.0.0/8"], "203.0.113.7"),
        (PROXY, "203.0.113.7, 10.0.0.9", [PROXY], "10.0.0.9"),
        (PROXY, "", [PROXY], PROXY),
        (PROXY, " , ", ["10.0.0.1/8"], PROXY),
        (PROXY, "no address", [PROXY], "no address"),
        ("::1", "2001:db8::1", ["::1", "10.0.0.0/8"], "2001:db8::1"),
        ("0:0:0:0:0:0:0:1", "2001:db8::1", ["::1"], "2001:db8::1"),
        ("", "203.0.113.7", ["10.0.0.0/8"], ""),
        ("::ffff:10.0.0.7", "203.0.113.7", [PROXY], "203.0.113.7"),
        ("::ffff:10.0.0.7", "203.0.113.7", ["::ffff:10.0.0.7"], "203.0.113.7"),
        (PROXY, "x" * 100, [PROXY], "x" * 64),
    ],
)
def test_the_last_address_that_is_not_a_trusted_proxy_is_the_clients(
    remote: str, forwarded: str, trusted: list[str], expected: str
) -> None:
    assert client_address(remote, forwarded, trusted) == expected
