"""Queries meant to damage the log: SQL in every value a client can send, wildcards, and very expensive queries.

The tests send queries to a real dashboard on a real SQLite store. Afterwards, the log must be unchanged.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import pytest
from tests.support.sqlite_dashboard import Dashboard, database_summary

from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS, SECTIONS
from relaybook.log.query.term_values import LISTED_FIELDS
from relaybook.log.query.words import has_words
from relaybook.log.store.sqlite.connection import open_for_writing, truncate_wal

RECORDS: Final = 5
PAYLOADS: Final = [
    *("'", '"', "`", "\\", ";", "--", "/*", "%", "_", "*", "?", "[a-z]*", "$1", ":name", "@a", "{}", "%s", "%n"),
    "' OR '1'='1",
    "' OR 1=1 --",
    '" OR ""="',
    "') OR ('1'='1",
    "1; DROP TABLE records; --",
    "'; DELETE FROM records WHERE '1'='1",
    "' UNION SELECT name FROM sqlite_master --",
    "' UNION ALL SELECT NULL,NULL,NULL,NULL --",
    "x' AND (SELECT count(*) FROM sqlite_master) > 0 --",
    "'||(SELECT hex(randomblob(100000000)))||'",
    "' AND 1=randomblob(1000000000) --",
    "'; ATTACH DATABASE '/tmp/pwned.db' AS pwned; --",
    "'; PRAGMA writable_schema=1; --",
    "' || load_extension('/tmp/x') || '",
    "\u02bc OR 1=1",
    "namespace\u0027 OR 1=1",
    "records.id",
    "(SELECT 1)",
    "x'41'",
    "NULL",
    "0x31",
    "1e309",
    "%" * 2000,
    "%_" * 500 + "x",
]
#: ``contains`` is tested in tests/conformance/stores/test_text_search.py.
FILTERS: Final = [*(name for name in NAMES if name != CONTAINS), "property.user", "begins.user", "begins.words"]
#: Filters that accept only values of a fixed form. Other values are rejected.
CHECKED: Final = (
    "outcome",
    "kind",
    "cost_reason",
    "failed",
    "status",
    "score",
    "feedback",
    "result",
    "warning",
    "note",
    "advice",
    "stream_ended",
    "id",
    "key",
    "from",
    "to",
    *NUMBERS,
)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    directory = tmp_path_factory.mktemp("questions")
    opened = Dashboard(directory / "store")
    opened.record(*range(1, RECORDS + 1), namespace="plain", user="ada", properties={"user": "42"})
    yield opened
    opened.close()


@pytest.fixture
def unchanged(dashboard: Dashboard) -> Iterator[Dashboard]:
    """Return the dashboard. After the test, the log must be unchanged."""
    before = database_summary(dashboard.directory)
    yield dashboard
    assert database_summary(dashboard.directory) == before


def get(dashboard: Dashboard, target: str) -> tuple[int, Any]:
    response = dashboard.client.get(target, headers={"Connection": "close"}, timeout=60)
    return response.status_code, response.json()


def is_refused_by_name(status: int, error: Any, name: str) -> None:
    assert (status, error["error"]["code"], error["error"]["param"]) == (400, "bad_parameter", name), error


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_a_filter_value_is_only_a_value(unchanged: Dashboard, payload: str) -> None:
    for name in FILTERS:
        status, error = get(unchanged, f"/api/requests?{name}={quote(payload)}")
        if name in CHECKED or (name.removeprefix("begins.") in SECTIONS and not has_words(payload)):
            is_refused_by_name(status, error, name)
        else:
            assert (status, error.get("data")) == (200, []), (name, error)
            counted = get(unchanged, f"/api/count?{name}={quote(payload)}")[1]
            assert (counted["requests"], counted["complete"]) == (0, True)
            found = get(unchanged, f"/api/requests?not.{name}={quote(payload)}&limit=500")[1]
            assert len(found["data"]) == RECORDS


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_a_property_name_is_only_a_name(unchanged: Dashboard, payload: str) -> None:
    status, error = get(unchanged, f"/api/requests?property.{quote(payload, safe='')}=42")
    assert (status, error["data"]) == (200, [])
    status, error = get(unchanged, f"/api/values/property.{quote(payload, safe='')}")
    assert (status, error.get("data", [])) in ((200, []), (404, []))


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_names_of_fields_and_sort_orders_must_be_known(unchanged: Dashboard, payload: str) -> None:
    sent = quote(payload, safe="")
    for target, param in (
        (f"/api/namespaces?sort={sent}", "sort"),
        (f"/api/requests?sort={sent}", "sort"),
        (f"/api/requests?limit={sent}", "limit"),
        (f"/api/requests?cursor={sent}", "cursor"),
        (f"/api/namespaces?pinned={sent}", "pinned"),
    ):
        is_refused_by_name(*get(unchanged, target), param)
    status, error = get(unchanged, f"/api/requests?{sent}=1")
    assert (status, error["error"]["code"]) == (400, "bad_parameter")
    assert get(unchanged, f"/api/values/{sent}")[0] in (400, 404)
    for target in (f"/api/requests/{sent}", f"/api/requests/{sent}/request", f"/api/requests?around={sent}"):
        assert get(unchanged, target)[0] in (400, 404), target


@pytest.mark.parametrize("field", [field for field in LISTED_FIELDS if field != "property"])
def test_wildcards_in_a_prefix_match_literally(unchanged: Dashboard, field: str) -> None:
    for prefix in ("%", "_", "%%%", "*", "p%n", "[p]", "pla_n", "\\%"):
        status, error = get(unchanged, f"/api/values/{field}?prefix={quote(prefix)}")
        assert (status, error["data"]) == (200, []), prefix
    if field == "namespace":
        for target in ("/api/namespaces?prefix=", "/api/namespaces?contains=", "/api/requests?namespace_prefix="):
            assert get(unchanged, f"{target}%25")[1]["data"] == []
            assert get(unchanged, f"{target}pla_n")[1]["data"] == []
            assert get(unchanged, f"{target}pla")[1]["data"]


# -- A5: expensive queries ---------------------------------------------------------------------------------------------

LONG: Final = [
    "/api/requests?not.namespace=x&not.model=y&path=/nowhere",
    "/api/requests?property.none=1&property.other=2",
    "/api/requests?from=-999999w&to=9999-12-31&namespace_prefix=zzz",
    "/api/requests?" + "&".join(f"not.namespace=n{number}" for number in range(100)),
    "/api/requests?sort=duration_ms",
    "/api/requests?cursor=n0&user=nobody",
    "/api/count?not.namespace=x&property.none=1",
]


@pytest.fixture(scope="module")
def without_time(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Return a dashboard with a time limit of zero for queries."""
    directory = tmp_path_factory.mktemp("hurried") / "store"
    opened = Dashboard(directory, query_seconds=0.0)
    for start in range(1, 20_001, 5_000):
        records = range(start, start + 5_000)
        opened.record(*records, namespace="plain", properties={"user": "42"}, duration_ms=5.0)
    yield opened
    opened.close()


@pytest.mark.parametrize("target", LONG, ids=lambda target: target[:60])
def test_a_query_ends_at_its_deadline_and_says_so(without_time: Dashboard, target: str) -> None:
    status, error = get(without_time, target)
    assert (status, error["complete"]) == (200, False), error
    assert error.get("data", []) == []


def test_queries_that_reached_their_deadline_keep_no_old_state_open(without_time: Dashboard) -> None:
    for target in LONG:
        get(without_time, target)
    without_time.record(20_001)
    connection = open_for_writing(without_time.directory, "process", 60.0)
    assert truncate_wal(connection, 60.0), "a reader still holds an old state of the log"
    connection.close()
    assert get(without_time, f"/api/requests/{'00000000-0000-7000-8000-'}{20_001:012x}")[0] == 200


@pytest.mark.parametrize(
    "target",
    [
        "/api/requests?" + "&".join(["namespace=x"] * 101),
        "/api/requests?" + "&".join(f"property.p{number}=x" for number in range(201)),
        "/api/requests?limit=501",
        "/api/requests?limit=-1",
        "/api/requests?cursor=o" + "9" * 30,
        "/api/requests?from=" + "9" * 1000,
        "/api/requests?from=-9999999w",
    ],
    ids=lambda target: target[:60],
)
def test_a_query_over_its_limits_is_rejected(unchanged: Dashboard, target: str) -> None:
    status, error = get(unchanged, target)
    assert (status, error["error"]["code"]) == (400, "bad_parameter")
