"""Test the options of the dashboard application."""

from typing import Any

from relaybook.api.options import ApiOptions, LogMetrics, NullProbe


def options(**fields: Any) -> ApiOptions:
    return ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0.1.0", **fields)


def test_the_sub_path_has_no_trailing_slash() -> None:
    assert options(dashboard_url="https://a.example/logs/").prefix == "/logs"
    assert options(dashboard_url="https://a.example/").prefix == ""
    assert options().prefix == ""


def test_the_token_is_not_in_the_repr_of_the_options() -> None:
    assert "hunter2" not in repr(options(token="hunter2"))


def test_without_a_probe_all_metrics_are_unknown() -> None:
    assert NullProbe().read() == LogMetrics()
    assert LogMetrics().journal_lag_bytes is None
