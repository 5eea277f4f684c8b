"""Options that cannot be meant are refused when they are made."""

from typing import Any

import pytest

from relaybook.api.options import ApiOptions, LogMetrics, UnknownLog


def options(**given: Any) -> ApiOptions:
    return ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0.1.0", **given)


@pytest.mark.parametrize("token", ["", " ", "\n", "secret\n", " secret"])
def test_a_blank_or_padded_token_is_refused_rather_than_taken_as_none(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        options(token=token)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "relaybook.example",
        "ftp://a.example",
        "https://",
        "https://a.example?x=1",
        "https://a.example/#x",
        "http://a:99999",
        "http://u:p@a",
    ],
)
def test_an_outside_address_must_be_a_web_address(url: str) -> None:
    with pytest.raises(ValueError, match="dashboard_url"):
        options(dashboard_url=url)


@pytest.mark.parametrize("path", ["/api", "/v1/", "/metrics/x", "/healthz", "/assets", "/requests", "/namespaces/x"])
def test_a_sub_path_that_looks_like_our_own_paths_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="dashboard_url"):
        options(dashboard_url="https://a.example" + path)


def test_the_sub_path_has_no_slash_at_its_end() -> None:
    assert options(dashboard_url="https://a.example/logs/").prefix == "/logs"
    assert options(dashboard_url="https://a.example/").prefix == ""
    assert options().prefix == ""


def test_the_token_is_not_in_the_text_of_the_options() -> None:
    assert "hunter2" not in repr(options(token="hunter2"))


def test_without_a_probe_everything_is_unknown() -> None:
    assert UnknownLog().figures() == LogMetrics()
    assert LogMetrics().journal_lag_bytes is None
