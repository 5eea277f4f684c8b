"""Test that stats have a fixed structure and null for unknown values. Errors name the invalid parameter."""

import pytest
from tests.support.api_log import START_US, client_of, log_of, record_of

from relaybook.clock import format_timestamp

SPAN = "from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&bucket=1800"


def test_stats_have_the_documented_fields() -> None:
    store = log_of(
        record_of(1, namespace="a", input_tokens=3, output_tokens=4, cost_usd=0.5, duration_ms=100.0),
        record_of(2, namespace="b", failed=True),
    )
    stats = client_of(store).get(f"/api/stats?{SPAN}&by=namespace").json()
    assert stats["bucket_seconds"] == 1800
    assert (stats["from"], stats["to"]) == ("2026-01-01T00:00:00.000000Z", "2026-01-01T01:00:00.000000Z")
    assert [group["by"] for group in stats["groups"]] == [{"namespace": "a"}, {"namespace": "b"}]
    [point] = stats["groups"][0]["points"]
    assert point["at"] == "2026-01-01T00:00:00.000000Z"
    assert (point["requests"], point["failed"], point["input_tokens"], point["output_tokens"]) == (1, 0, 3, 4)
    assert point["cost_usd"] == 0.5
    assert point["duration_ms"]["p50"] == pytest.approx(100, rel=0.1)
    assert point["first_token_ms"] == {"p50": None, "p95": None, "p99": None}
    unknown = stats["groups"][1]["total"]
    assert (unknown["requests"], unknown["failed"], unknown["cost_usd"]) == (1, 1, None)
    assert stats["total"]["requests"] == 2
    assert stats["other"] is None
    assert stats["source"] == "log"


def test_without_by_there_is_one_group_of_all() -> None:
    stats = client_of(log_of(record_of(1), record_of(2))).get(f"/api/stats?{SPAN}").json()
    assert [group["by"] for group in stats["groups"]] == [{}]
    assert stats["groups"][0]["total"]["requests"] == 2


def test_requests_without_the_field_are_a_group_of_null() -> None:
    stats = client_of(log_of(record_of(1))).get(f"/api/stats?{SPAN}&by=property.channel").json()
    assert [group["by"] for group in stats["groups"]] == [{"property.channel": None}]


def test_stats_have_the_same_filters_as_the_log() -> None:
    client = client_of(log_of(record_of(1, model="a"), record_of(2, model="b")))
    assert client.get(f"/api/stats?{SPAN}&model=a").json()["total"]["requests"] == 1
    assert client.get(f"/api/stats?{SPAN}&not.model=a&not.model=b").json()["groups"] == []


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("bucket=1h", "bucket"),
        ("bucket=60&bucket=60", "bucket"),
        ("bucket=-1", "bucket"),
        ("by=color", "by"),
        ("by=", "by"),
        ("from=10000-01-01T00:00:00Z", "from"),
        ("to=-0001-01-01", "to"),
        ("from=-1h&to=-2h", "from"),
        ("from=-999d&bucket=60", "bucket"),
        ("limit=5", "limit"),
        ("model=%ff", "model"),
        ("model=%", "model"),
    ],
)
def test_invalid_parameters_are_rejected_by_name(query: str, param: str) -> None:
    response = client_of(log_of()).get(f"/api/stats?{query}")
    assert response.status == 400
    assert response.json()["error"]["param"] == param


def test_quotes_and_percent_signs_are_matched_literally() -> None:
    name = '50%\' OR "1"=1 --'
    client = client_of(log_of(record_of(1, model=name)))
    stats = client.get(f"/api/stats?{SPAN}&by=model&model=50%25%27%20OR%20%221%22%3D1%20--").json()
    assert stats["groups"][0]["by"] == {"model": name}


def test_the_last_bucket_ends_at_the_latest_timestamp() -> None:
    stats = client_of(log_of(record_of(1))).get("/api/stats?to=9999-12-31T23:59:59Z").json()
    assert stats["to"] == "9999-12-31T23:59:59.999999Z"
    assert stats["total"]["requests"] == 1


def test_the_first_bucket_begins_at_the_earliest_timestamp() -> None:
    stats = client_of(log_of(record_of(1))).get("/api/stats?to=0001-01-01T00:00:00Z").json()
    assert stats["from"] == "0001-01-01T00:00:00.000000Z"
    assert stats["total"]["requests"] == 0


def test_the_same_span_before_is_compared_by_group() -> None:
    hour = 3600
    records = [
        record_of(0, namespace="a"),
        *(record_of(hour + second, namespace="a", failed=second < 2) for second in range(10)),
        *(record_of(2 * hour + second, namespace="a") for second in range(5)),
        record_of(2 * hour + 7, namespace="b"),
    ]
    span = f"from={at(2 * hour)}&to={at(3 * hour)}"
    found = client_of(log_of(*records)).get(f"/api/stats?by=namespace&previous=true&{span}").json()
    previous = found["previous"]
    assert (previous["from"], previous["to"]) == (at(hour), at(2 * hour))
    assert (previous["total"]["requests"], previous["total"]["failed"]) == (10, 2)
    assert [(group["by"]["namespace"], group["previous"]["requests"]) for group in found["groups"]] == [
        ("a", 10),
        ("b", 0),
    ]


@pytest.mark.parametrize("span", ["from={}&to={}", "to={1}"])
def test_a_span_before_the_log_is_not_compared(span: str) -> None:
    log = log_of(*(record_of(second) for second in range(10)))
    found = client_of(log).get(f"/api/stats?previous=true&{span.format(at(0), at(3600))}").json()
    assert found["total"]["requests"] == 10
    assert found["previous"] is None


def at(seconds: int) -> str:
    """Return the start of the hour of the first record, plus seconds."""
    return format_timestamp(START_US + seconds * 1_000_000)
