"""Test that the API reports the state of Relaybook to users and health checks."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from tests.support.api_log import START_US, client_of, log_of, open_of, record_of
from tests.support.asgi import Client
from tests.support.built_page import BUILD, page_in
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.api.options import LogMetrics
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Gap
from relaybook.log.retention import Cutoff, Cutoffs, Retention, Rule
from relaybook.log.store.port import Batch
from relaybook.log.store.status import RecorderState, StoreStatus


class Probe:
    def read(self) -> LogMetrics:
        return LogMetrics(
            journal_lag_bytes=5,
            journal_lag_seconds=0.2,
            disk_free_bytes=7,
            disk_used_bytes=8,
            disk_budget_bytes=9,
            data_path="/data",
        )


class Broken(MemoryStore):
    def last_seq(self) -> int:
        raise OSError("/secret/path is gone")


def test_the_status_says_whether_the_program_is_compiled() -> None:
    assert client_of(program="compiled").get("/api/status").json()["program"] == "compiled"
    assert client_of().get("/api/status").json()["program"] == "plain"


def test_the_status_has_the_metrics_of_the_store_and_the_probe() -> None:
    store = log_of(record_of(1))
    store.commit(Batch(running=[open_of(2)], refused={"overloaded": 3}))
    status = client_of(store, probe=Probe(), settings={"workers": 1}).get("/api/status").json()
    assert (status["records"], status["last_seq"], status["running"]) == (1, 1, 1)
    assert status["refused"] == {"overloaded": 3}
    assert status["journal"] == {"lag_bytes": 5, "lag_seconds": 0.2}
    assert status["storage"]["days_left"] is None
    assert status["storage"]["data_path"] == "/data"
    assert status["settings"] == {"workers": 1}


def test_the_status_has_the_servers_that_share_the_log() -> None:
    class Shared(MemoryStore):
        def status(self) -> StoreStatus:
            recorders = [
                RecorderState(server="a", is_live=True, lag_us=250_000),
                RecorderState(server="b", is_live=False, lag_us=60_000_000),
            ]
            return msgspec.structs.replace(super().status(), recorders=recorders)

    assert client_of(Shared()).get("/api/status").json()["recorders"] == [
        {"server": "a", "state": "live", "lag_seconds": 0.25},
        {"server": "b", "state": "lost", "lag_seconds": 60.0},
    ]
    assert client_of().get("/api/status").json()["recorders"] == []


DAY_US = 86_400_000_000


@pytest.fixture
def set_day(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets the clock to noon, some days after START_US."""
    return lambda days: monkeypatch.setattr(clock, "wall_us", lambda: START_US + days * DAY_US + DAY_US // 2)


def test_the_status_says_what_is_kept_since_when_and_what_was_removed(set_day: Callable[[int], None]) -> None:
    set_day(2)
    store = log_of(record_of(1), record_of(86_400), record_of(2 * 86_400))
    rules = Retention(general=Rule(body_days=1, days=30), aggregate_days=400)
    client = client_of(store, probe=Probe(), retention=rules)
    assert client.get("/api/status").json()["retention"] == {
        "bodies": {"days": 1, "oldest_day": "2026-01-01", "next_removal": "2026-01-03"},
        "requests": {"days": 30, "oldest_day": "2026-01-01", "next_removal": "2026-02-01"},
        "aggregates": {"days": 400, "oldest_day": "2026-01-01", "next_removal": "2027-02-06"},
        "disk_budget_bytes": 9,
        "disk_used_bytes": 8,
        "last_removal": None,
    }
    cutoffs = Cutoffs(general=Cutoff(content=START_US + 2 * DAY_US, requests=START_US + DAY_US))
    store.retain(cutoffs, clock.monotonic_ns() + 10**9)
    retention = client.get("/api/status").json()["retention"]
    assert [retention[name]["oldest_day"] for name in ("bodies", "requests", "aggregates")] == [
        "2026-01-03",
        "2026-01-02",
        "2026-01-01",
    ]
    removal = retention["last_removal"]
    assert (removal["reason"], removal["requests"], removal["contents"]) == ("age", 1, 1)
    assert removal["at"].endswith("Z")


def test_the_status_has_the_latest_deletions() -> None:
    store = log_of(record_of(1))
    for _ in range(12):
        store.request(Filter((Term("namespace", ("ios",)),)), 5, "127.0.0.1")
    deletions = client_of(store).get("/api/status").json()["deletions"]
    assert len(deletions) == 10
    assert (deletions[0]["state"], deletions[0]["requests"], deletions[0]["removed"]) == ("removing", 5, 0)


def test_the_retention_of_an_empty_log_has_no_days() -> None:
    retention = client_of().get("/api/status").json()["retention"]
    nothing = {"days": 0, "oldest_day": None, "next_removal": None}
    assert retention["requests"] == retention["aggregates"] == nothing
    assert retention["disk_budget_bytes"] is None


def test_a_request_from_1970_does_not_hide_the_status() -> None:
    """The clock of a machine can be wrong until it is set after a boot."""
    store = log_of(record_of(1, started_at=1_000_000, ended_at=2_000_000), record_of(2))
    retention = client_of(store, probe=Probe()).get("/api/status").json()["retention"]
    assert retention["requests"]["oldest_day"] == retention["aggregates"]["oldest_day"] == "1970-01-01"


@pytest.mark.parametrize("days", [1, 30])
def test_the_next_removal_of_the_status_is_the_day_on_which_retention_removes_the_oldest_day(
    days: int, set_day: Callable[[int], None]
) -> None:
    set_day(0)
    rules = Retention(general=Rule(days=days))
    store = log_of(record_of(1))
    kept = client_of(store, probe=Probe(), retention=rules).get("/api/status").json()["retention"]["requests"]
    midnight = int(datetime.fromisoformat(f"{kept['next_removal']}T00:00Z").timestamp()) * 1_000_000
    until_ns = clock.monotonic_ns() + 10**9
    assert not store.retain(rules.cutoffs(midnight - 1), until_ns).removed
    assert store.retain(rules.cutoffs(midnight), until_ns).removed == 1


def next_removals(store: MemoryStore, rules: Retention) -> tuple[str | None, str | None]:
    """Return the next removals of bodies and of requests, after retention has removed everything that is old enough."""
    while not store.retain(rules.cutoffs(clock.wall_us()), clock.monotonic_ns() + 10**9).is_complete:
        pass
    retention = client_of(store, probe=Probe(), retention=rules).get("/api/status").json()["retention"]
    return retention["bodies"]["next_removal"], retention["requests"]["next_removal"]


def on_days(**days_of: list[int]) -> MemoryStore:
    """Return a log with a request in each namespace on each of the days after START_US."""
    records = [(day, name) for name, days in days_of.items() for day in days]
    return log_of(
        *(
            record_of(number, namespace=name, started_at=START_US + day * DAY_US, ended_at=START_US + day * DAY_US)
            for number, (day, name) in enumerate(sorted(records))
        )
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule(), ("2026-01-22", "2026-01-22")),
        (Rule(body_days=60, days=90), ("2026-01-22", "2026-01-22")),
        (Rule(body_days=30, days=40), ("2026-01-22", "2026-01-22")),
    ],
)
def test_the_next_removal_is_not_that_of_a_namespace_which_is_kept_longer(
    rule: Rule, expected: tuple[str, str], set_day: Callable[[int], None]
) -> None:
    set_day(20)
    rules = Retention(general=Rule(body_days=10, days=10), by_pattern={"audit": rule})
    assert next_removals(on_days(audit=[0, 5, 20], other=[0, 5, 10, 20]), rules) == expected


def test_a_log_with_only_namespaces_that_are_kept_forever_has_no_next_removal(set_day: Callable[[int], None]) -> None:
    set_day(20)
    rules = Retention(general=Rule(body_days=3, days=10), by_pattern={"audit*": Rule()})
    assert next_removals(on_days(audit=[0, 20], audit2=[1]), rules) == (None, None)
    assert next_removals(on_days(audit=[0, 20], other=[1, 2]), rules) == (None, None)


def test_the_next_removal_can_be_that_of_a_namespace_which_is_kept_shorter(set_day: Callable[[int], None]) -> None:
    set_day(20)
    rules = Retention(by_pattern={"dev-*": Rule(body_days=2, days=5), "dev-audit": Rule(), "d*": Rule(days=30)})
    log = on_days(**{"dev-audit": [0], "dev-1": [3, 18], "dev-2": [19], "demo": [7], "other": [0]})
    assert next_removals(log, rules) == ("2026-01-22", "2026-01-25")


def test_removed_bodies_have_no_next_removal(set_day: Callable[[int], None]) -> None:
    set_day(20)
    for by_pattern in ({}, {"audit": Rule()}, {"audit": Rule(body_days=60, days=60)}):
        rules = Retention(general=Rule(body_days=3, days=60), by_pattern=by_pattern)
        bodies, requests = next_removals(on_days(other=[0, 5]), rules)
        assert (bodies, requests) == (None, "2026-03-03")


def test_the_next_removal_is_today_while_data_is_removed(set_day: Callable[[int], None]) -> None:
    set_day(100)
    rules = Retention(general=Rule(body_days=3, days=10), aggregate_days=20)
    retention = client_of(on_days(a=[0]), probe=Probe(), retention=rules).get("/api/status").json()["retention"]
    assert {retention[name]["next_removal"] for name in ("bodies", "requests", "aggregates")} == {"2026-04-11"}


def test_nothing_that_is_kept_forever_has_a_next_removal() -> None:
    retention = client_of(log_of(record_of(1)), probe=Probe()).get("/api/status").json()["retention"]
    assert retention["requests"] == {"days": 0, "oldest_day": "2026-01-01", "next_removal": None}


def test_the_status_has_the_number_of_namespaces_and_of_labels() -> None:
    store = log_of(*(record_of(number, namespace=name) for number, name in enumerate(("ios", "a@b", "a@b", "c@d"))))
    status = client_of(store).get("/api/status").json()
    assert (status["namespaces"], status["labels"]) == (3, 1)


@pytest.mark.parametrize("sample_data", [False, True])
def test_the_status_says_whether_the_log_has_sample_data(sample_data: bool) -> None:
    assert client_of(sample_data=sample_data).get("/api/status").json()["sample_data"] is sample_data


def test_gaps_are_listed_latest_first_and_counted() -> None:
    store = MemoryStore()
    gaps = [
        Gap(from_at=START_US + at * 1_000_000, to_at=START_US + at * 1_000_000, count=at, reason="log_unavailable")
        for at in range(1, 151)
    ]
    store.commit(Batch(gaps=gaps))
    status = client_of(store).get("/api/status").json()
    assert (len(status["gaps"]), status["gap_count"], status["gaps"][0]["count"]) == (100, 150, 150)
    assert status["gaps"][0]["from_at"] == "2026-01-01T00:02:30.000000Z"


def test_the_status_has_the_build_of_the_page(tmp_path: Path) -> None:
    assert client_of(page=page_in(tmp_path)).get("/api/status").json()["page_build"] == BUILD
    assert client_of().get("/api/status").json()["page_build"] is None


def test_the_token_is_not_in_the_status() -> None:
    response = client_of(token="hunter2").get("/api/status", ("authorization", "Bearer hunter2"))
    assert response.status == 200
    assert b"hunter2" not in response.body


@pytest.mark.parametrize(("path", "status"), [("/healthz", "ok"), ("/readyz", "ready")])
def test_health_checks_work_under_any_host_without_a_token(path: str, status: str) -> None:
    client = client_of(token="hunter2", dashboard_url="https://a.example/logs")
    for target in (path, "/logs" + path):
        response = client.get(target, ("host", "10.0.0.7:4101"))
        assert (response.status, response.json()) == (200, {"status": status})
    assert client.request("HEAD", path).status == 200


def test_with_an_unreadable_log_the_dashboard_is_healthy_but_not_ready() -> None:
    client: Client = client_of(Broken())
    response = client.get("/readyz")
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert b"secret" not in response.body
    assert client.get("/healthz").status == 200


def test_parameters_are_rejected() -> None:
    assert client_of().get("/api/status?verbose=1").status == 400
