"""Test which address a command connects to."""

import pytest

from relaybook.cli.source import own_address


@pytest.mark.parametrize(
    ("dashboard", "url"),
    [
        ("127.0.0.1:4101", "http://127.0.0.1:4101"),
        ("localhost:1", "http://localhost:1"),
        ("0.0.0.0:4101", "http://127.0.0.1:4101"),
        ("[::]:4101", "http://[::1]:4101"),
        ("[::1]:4101", "http://[::1]:4101"),
        ("10.0.0.7:4101", "http://10.0.0.7:4101"),
    ],
)
def test_the_dashboard_is_reached_on_this_machine(dashboard: str, url: str) -> None:
    assert own_address(dashboard) == url
