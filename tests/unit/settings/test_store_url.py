"""Test the URL of a ClickHouse database."""

import pytest

from relaybook.settings import BadSetting
from relaybook.settings.definitions import Settings
from relaybook.settings.store_url import DatabaseAddress, parse_store_url


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("clickhouse://localhost/relaybook", DatabaseAddress("localhost", 8123, "relaybook")),
        ("clickhouse://ada@h:9000/log_2", DatabaseAddress("h", 9000, "log_2", "ada")),
        ("clickhouse://h/l?secure=1", DatabaseAddress("h", 8443, "l", secure=True)),
        ("clickhouse://a%40b@[::1]:1/l?secure=0", DatabaseAddress("::1", 1, "l", "a@b")),
    ],
)
def test_a_url_names_server_database_and_user(url: str, expected: DatabaseAddress) -> None:
    assert parse_store_url(url) == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://h/l", "expected sqlite, or a URL such as"),
        ("clickhouse:///l", "expected sqlite, or a URL such as"),
        ("clickhouse://h:99999/l", "the host or port is invalid"),
        ("clickhouse://h", "expected the name of a database"),
        ("clickhouse://h/a-b", "expected the name of a database"),
        ("clickhouse://h/l?tls=1", "only ?secure=1 is allowed"),
        ("clickhouse://u:secret@h/l", "set RELAYBOOK_STORE_PASSWORD"),
    ],
)
def test_other_urls_are_rejected_without_showing_a_password(url: str, reason: str) -> None:
    with pytest.raises(BadSetting) as caught:
        Settings(store=url)
    assert caught.value.name == "store"
    assert reason in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_disk_budget_is_only_for_logs_in_the_data_directory() -> None:
    with pytest.raises(BadSetting) as caught:
        Settings(store="clickhouse://h/l", disk_budget=1 << 40)
    assert caught.value.name == "disk_budget"
