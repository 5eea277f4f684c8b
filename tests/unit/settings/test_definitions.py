"""Test the validation of the settings."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from relaybook.settings import BadSetting
from relaybook.settings.definitions import POSITIVE, Settings, is_utf8


def error_of(**values: Any) -> BadSetting:
    with pytest.raises(BadSetting) as caught:
        Settings(**values)
    return caught.value


def test_the_defaults_are_valid() -> None:
    assert Settings().durable is False
    assert Settings(durability="power").durable is True


def test_every_setting_has_a_description_of_one_line() -> None:
    for field in dataclasses.fields(Settings):
        assert field.metadata["help"]
        assert "\n" not in field.metadata["help"]


def test_default_lists_are_not_shared() -> None:
    assert Settings().hosts is not Settings().hosts


@pytest.mark.parametrize("dashboard", ["0.0.0.0:4101", "[::]:4101", "logs.example:4101"])
def test_a_public_dashboard_requires_a_token(dashboard: str) -> None:
    assert error_of(dashboard=dashboard).name == "dashboard"
    assert Settings(dashboard=dashboard, dashboard_token="long enough").dashboard == dashboard


@pytest.mark.parametrize(
    "upstream",
    [
        *("", "api.openai.com/v1", "ftp://h/v1", "https://", "https:///v1", "https://u:p@h/v1", "https://h:0/v1"),
        *(
            "https://h:99999/v1",
            "https://h/v1?a=b",
            "https://h/v1#a",
            "https://h/v 1",
            "https://h/v1\r\nx",
            "https://é/v1",
            "https://a..b/v1",
        ),
    ],
)
def test_an_upstream_is_a_base_url(upstream: str) -> None:
    assert error_of(upstream=upstream).name == "upstream"


@pytest.mark.parametrize("token", ["", " ", "\n", "secret\n", " secret"])
@pytest.mark.parametrize("name", ["dashboard_token", "feedback_token"])
def test_a_blank_or_padded_token_is_rejected(name: str, token: str) -> None:
    assert error_of(**{name: token}).name == name


@pytest.mark.parametrize("path", ["/api", "/v1/", "/metrics/x", "/healthz", "/assets", "/requests", "/namespaces/x"])
def test_the_path_of_the_dashboard_url_is_not_one_of_its_own_paths(path: str) -> None:
    assert error_of(dashboard_url=f"https://a.example{path}").name == "dashboard_url"
    assert Settings(dashboard_url="https://a.example/logs")


def test_invalid_utf_8_is_recognized() -> None:
    assert is_utf8("café \U0001f600")
    assert not is_utf8(b"caf\xe9".decode("utf-8", "surrogateescape"))


def test_a_data_directory_is_utf8_text() -> None:
    assert error_of(data=Path("/tmp/\udcff")).name == "data"


@pytest.mark.parametrize("name", POSITIVE)
def test_zero_is_rejected_if_the_setting_must_be_positive(name: str) -> None:
    assert error_of(**{name: 0}).name == name


def test_a_segment_is_at_least_a_mebibyte() -> None:
    assert error_of(segment_bytes=1000).name == "segment_bytes"


@pytest.mark.parametrize("prefix", [[], [""], ["Service-"], ["1x"], ["x" * 33], ["Ä"]])
def test_a_header_prefix_is_letters_and_digits(prefix: list[str]) -> None:
    assert error_of(header_prefix=prefix).name == "header_prefix"


def test_messages_are_one_line_with_the_name_of_the_setting() -> None:
    for bad in ({"listen": "x\ny"}, {"upstream": "x\ny"}, {"workers": 0}, {"header_prefix": ["a\nb"]}):
        error = error_of(**bad)
        assert error.name in str(error)
        assert "\n" not in str(error)


@pytest.mark.parametrize("proxy", ["proxy.example", "10.0.0.0/33", "10.0.0", ""])
def test_a_trusted_proxy_is_an_address_or_a_network(proxy: str) -> None:
    assert Settings(trusted_proxies=["10.0.0.7", "10.0.0.1/8", "::1"]).trusted_proxies[1] == "10.0.0.1/8"
    error = error_of(trusted_proxies=["127.0.0.1", proxy])
    assert (error.name, f"has {proxy!r}: expected an address" in str(error)) == ("trusted_proxies", True)
