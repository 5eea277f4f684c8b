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


ORIGINS = (
    *("https://app.example", "http://localhost:3000", "https://a-b.c_d.example:8443", "http://[::1]:5173", "*"),
    *("http://192.168.0.7", "https://xn--bcher-kva.example", "https://app.example.", "https://*.example"),
    *("https://*.app.example:8443", "http://localhost:*", "https://*.example:*", "http://[::1]:*", "app://obsidian.md"),
    *("tauri://localhost", "vscode-webview://0a1b2c", "chrome-extension://abcdefghijklmnop", "capacitor://localhost"),
    *("file://", "http://app.example:443", "https://app.example:80", "http://localhost"),
)


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_origin_that_a_browser_can_send_is_accepted(origin: str) -> None:
    assert Settings(cors_origins=["https://other.example", origin]).cors_origins[1] == origin


@pytest.mark.parametrize(
    ("origin", "right"),
    [
        ("https://a.example/", "https://a.example"),
        ("a.example", "https://a.example"),
        ("a.example:8443", "https://a.example:8443"),
        ("localhost:3000", "http://localhost:3000"),
        ("127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("//a.example", "https://a.example"),
        ("*.a.example", "https://*.a.example"),
        ("https://A.example", "https://a.example"),
        ("HTTPS://a.example", "https://a.example"),
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80", "http://a.example"),
        ("https://a.example:08443", "https://a.example:8443"),
        ("https://a.example:", "https://a.example"),
        ("https://a.example/v1/chat", "https://a.example"),
        ("https://a.example?x=1", "https://a.example"),
        ("https://a.example#top", "https://a.example"),
        ("https://*.A.example/", "https://*.a.example"),
        ("http://localhost:*/", "http://localhost:*"),
        (" https://a.example", "https://a.example"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://[0:0:0:0:0:0:0:1]:3000", "http://[::1]:3000"),
        ("APP://x", "app://x"),
    ],
)
def test_an_origin_that_no_browser_sends_is_refused_with_the_one_to_write(origin: str, right: str) -> None:
    error = error_of(cors_origins=["https://other.example", origin])
    assert error.name == "cors_origins"
    assert str(error).endswith(f" Write {right}.")
    assert Settings(cors_origins=[right])


@pytest.mark.parametrize(
    "origin",
    [
        *(
            "",
            "app://x*",
            "app://*",
            "*://a.example",
            "https://*",
            "https://a*.example",
            "https://a.*.example",
            "http*",
        ),
        *("https://*a.example", "http://localhost:3*", "https://**.example", "https://*.*.example", "http://10.0.0.*"),
        *("https://", "https://a..example", "https://a b.example", "https://.example", "https://a.example:65536"),
        *(
            "https://a.example:0",
            "http://[::x]",
            "http://::1",
            "http://127.1",
            "http://10.0.0.256",
            "https://*.10.0.0.1",
        ),
        *("null", "a\nb", "https://a.example,https://b.example", "mailto:a@b.example", "https://a%2Eexample"),
    ],
)
def test_what_is_not_an_origin_is_refused_with_examples(origin: str) -> None:
    error = error_of(cors_origins=[origin])
    assert error.name == "cors_origins"
    assert "https://app.example" in str(error)
    assert "\n" not in str(error)


def test_a_refused_origin_with_a_password_is_not_shown() -> None:
    error = error_of(cors_origins=["https://user:hunter2@a.example"])
    assert str(error).endswith(" Write https://a.example.")
    assert "hunter2" not in str(error)
