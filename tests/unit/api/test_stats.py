"""Statistics have one shape; unknown figures are null; what cannot be meant is refused by name."""

import pytest
from tests.support.api_log import client_of, log_of, record_of

SPAN = "from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z&bucket=1800"


def test_requests_are_added_up_in_the_contracts_shape() -> None:
    store = log_of(
        record_of(1, namespace="a", input_tokens=3, output_tokens=4, cost_usd=0.5, duration_ms=100.0),
        record_of(2, namespace="b", failed=True),
    )
    found = client_of(store).get(f"/api/stats?{SPAN}&by=namespace").json()
    assert found["bucket_seconds"] == 1800
    assert (found["from"], found["to"]) == ("2026-01-01T00:00:00.000000Z", "2026-01-01T01:00:00.000000Z")
    assert [group["by"] for group in found["groups"]] == [{"namespace": "a"}, {"namespace": "b"}]
    [point] = found["groups"][0]["points"]
    assert point["at"] == "2026-01-01T00:00:00.000000Z"
    assert (point["requests"], point["failed"], point["input_tokens"], point["output_tokens"]) == (1, 0, 3, 4)
    assert point["cost_usd"] == 0.5
    assert point["duration_ms"]["p50"] == pytest.approx(100, rel=0.1)
    assert point["first_token_ms"] == {"p50": None, "p95": None, "p99": None}
    unknown = found["groups"][1]["total"]
    assert (unknown["requests"], unknown["failed"], unknown["cost_usd"]) == (1, 1, None)
    assert found["total"]["requests"] == 2
    assert found["other"] is None
    assert found["source"] == "log"


def test_without_by_there_is_one_group_of_all() -> None:
    found = client_of(log_of(record_of(1), record_of(2))).get(f"/api/stats?{SPAN}").json()
    assert [group["by"] for group in found["groups"]] == [{}]
    assert found["groups"][0]["total"]["requests"] == 2


def test_requests_without_the_field_are_a_group_of_null() -> None:
    found = client_of(log_of(record_of(1))).get(f"/api/stats?{SPAN}&by=property.channel").json()
    assert [group["by"] for group in found["groups"]] == [{"property.channel": None}]


def test_filters_are_the_logs() -> None:
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
def test_what_cannot_be_meant_is_refused_by_name(query: str, param: str) -> None:
    answer = client_of(log_of()).get(f"/api/stats?{query}")
    assert answer.status == 400
    assert answer.json()["error"]["param"] == param


def test_quotes_and_percent_signs_are_values() -> None:
    name = '50%\' OR "1"=1 --'
    client = client_of(log_of(record_of(1, model=name)))
    found = client.get(f"/api/stats?{SPAN}&by=model&model=50%25%27%20OR%20%221%22%3D1%20--").json()
    assert found["groups"][0]["by"] == {"model": name}


def test_a_bucket_that_ends_behind_the_last_moment_ends_there() -> None:
    found = client_of(log_of(record_of(1))).get("/api/stats?to=9999-12-31T23:59:59Z").json()
    assert found["to"] == "9999-12-31T23:59:59.999999Z"
    assert found["total"]["requests"] == 1
