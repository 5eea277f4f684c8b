"""Test addresses and base URLs."""

import re

import pytest

from relaybook.settings import BadSetting
from relaybook.settings.addresses import check_upstream, is_loopback, split_address


@pytest.mark.parametrize(
    "listen", ["4100", ":4100", "host", "host:", "host:x", "::1:4100", "h:65536", "h:-1", "h:٣", "a..b:1", "a\0:1"]
)
def test_an_address_is_host_and_port(listen: str) -> None:
    with pytest.raises(BadSetting, match="listen is "):
        split_address(listen, "listen")


def test_ipv6_addresses_are_in_brackets() -> None:
    assert split_address("[::1]:0", "listen") == ("::1", 0)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False), ("h", False)],
)
def test_a_loopback_host_is_recognized(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("listen", "upstream"),
    [
        ("127.0.0.1:4100", "http://127.0.0.1:4100/v1"),
        ("127.0.0.1:4100", "http://LOCALHOST:4100/v1"),
        ("localhost:4100", "http://[::1]:4100/v1"),
        ("127.0.0.1:4100", "http://0.0.0.0:4100/v1"),
        ("0.0.0.0:4100", "http://127.0.0.7:4100/v1"),
        ("[::]:4100", "http://localhost:4100/v1"),
        ("Relay.example:443", "https://relay.example/v1"),
        ("127.0.0.1:80", "http://127.0.0.1/v1"),
    ],
)
def test_the_upstream_is_not_the_relay_itself(listen: str, upstream: str) -> None:
    with pytest.raises(BadSetting, match=f"the relay itself listens on {re.escape(listen)}"):
        check_upstream(upstream, listen)


@pytest.mark.parametrize(
    ("listen", "upstream"),
    [
        ("127.0.0.1:4100", "http://127.0.0.1:4200/v1"),
        ("127.0.0.1:4100", "http://127.0.0.1/v1"),
        ("127.0.0.1:4100", "http://127.0.0.2:4100/v1"),
        ("127.0.0.1:4100", "http://relay.example:4100/v1"),
        ("0.0.0.0:443", "https://api.openai.com/v1"),
        ("127.0.0.1:0", "http://127.0.0.1:80/v1"),
    ],
)
def test_another_server_can_be_the_upstream(listen: str, upstream: str) -> None:
    check_upstream(upstream, listen)
