"""Test that ``ApiOptions`` rejects invalid options."""

from typing import Any

import pytest

from relaybook.api.options import ApiOptions, LogMetrics, NullProbe


def options(**fields: Any) -> ApiOptions:
    return ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0.1.0", **fields)


@pytest.mark.parametrize("token", ["", " ", "\n", "secret\n", " secret"])
def test_a_blank_or_padded_token_is_rejected(token: str) -> None:
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
def test_the_dashboard_url_must_be_an_http_url(url: str) -> None:
    with pytest.raises(ValueError, match="dashboard_url"):
        options(dashboard_url=url)


@pytest.mark.parametrize("path", ["/api", "/v1/", "/metrics/x", "/healthz", "/assets", "/requests", "/namespaces/x"])
def test_a_reserved_sub_path_is_rejected(path: str) -> None:
    with pytest.raises(ValueError, match="dashboard_url"):
        options(dashboard_url="https://a.example" + path)


def test_the_sub_path_has_no_trailing_slash() -> None:
    assert options(dashboard_url="https://a.example/logs/").prefix == "/logs"
    assert options(dashboard_url="https://a.example/").prefix == ""
    assert options().prefix == ""


def test_the_token_is_not_in_the_repr_of_the_options() -> None:
    assert "hunter2" not in repr(options(token="hunter2"))


def test_without_a_probe_all_metrics_are_unknown() -> None:
    assert NullProbe().read() == LogMetrics()
    assert LogMetrics().journal_lag_bytes is None
