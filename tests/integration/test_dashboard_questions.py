"""Questions meant to break the log: SQL in every place a caller can write, wildcards, and questions without an end.

A real dashboard before a real SQLite store; the log must be the same afterwards.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import pytest
from tests.support.sqlite_dashboard import Dashboard, database_summary

from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS
from relaybook.log.query.values import LISTED_FIELDS
from relaybook.log.store.sqlite.connection import open_for_writing, truncate_wal

RECORDS: Final = 40
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
#: What a piece of text finds in bodies is for tests/conformance/stores/test_words.py.
FILTERS: Final = [*(name for name in NAMES if name != CONTAINS), "property.user"]
#: Filters whose values are checked against a form of their own: anything else is refused.
CHECKED: Final = ("outcome", "kind", "failed", "status", "warning", "advice", "id", "key", "from", "to", *NUMBERS)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    directory = tmp_path_factory.mktemp("questions")
    opened = Dashboard(directory / "store")
    opened.record(*range(1, RECORDS + 1), namespace="plain", user="ada", properties={"user": "42"})
    yield opened
    opened.close()


@pytest.fixture
def unchanged(dashboard: Dashboard) -> Iterator[Dashboard]:
    """The dashboard; afterwards its log must be as before."""
    before = database_summary(dashboard.directory)
    yield dashboard
    assert database_summary(dashboard.directory) == before


def ask(dashboard: Dashboard, target: str) -> tuple[int, Any]:
    answer = dashboard.client.get(target, headers={"Connection": "close"}, timeout=60)
    return answer.status_code, answer.json()


def is_refused_by_name(status: int, told: Any, name: str) -> None:
    assert (status, told["error"]["code"], told["error"]["param"]) == (400, "bad_parameter", name), told


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_a_filters_value_is_a_value_and_nothing_else(unchanged: Dashboard, payload: str) -> None:
    for name in FILTERS:
        status, told = ask(unchanged, f"/api/requests?{name}={quote(payload)}")
        if name in CHECKED:
            is_refused_by_name(status, told, name)
        else:
            assert (status, told.get("data")) == (200, []), (name, told)
            counted = ask(unchanged, f"/api/count?{name}={quote(payload)}")[1]
            assert (counted["requests"], counted["complete"]) == (0, True)
            found = ask(unchanged, f"/api/requests?not.{name}={quote(payload)}&limit=500")[1]
            assert len(found["data"]) == RECORDS


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_a_propertys_name_is_a_name_and_nothing_else(unchanged: Dashboard, payload: str) -> None:
    status, told = ask(unchanged, f"/api/requests?property.{quote(payload, safe='')}=42")
    assert (status, told["data"]) == (200, [])
    status, told = ask(unchanged, f"/api/values/property.{quote(payload, safe='')}")
    assert (status, told.get("data", [])) in ((200, []), (404, []))


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload[:40])
def test_names_and_places_are_taken_from_lists(unchanged: Dashboard, payload: str) -> None:
    sent = quote(payload, safe="")
    for target, param in (
        (f"/api/namespaces?sort={sent}", "sort"),
        (f"/api/requests?limit={sent}", "limit"),
        (f"/api/requests?cursor={sent}", "cursor"),
        (f"/api/namespaces?pinned={sent}", "pinned"),
    ):
        is_refused_by_name(*ask(unchanged, target), param)
    status, told = ask(unchanged, f"/api/requests?{sent}=1")
    assert (status, told["error"]["code"]) == (400, "bad_parameter")
    assert ask(unchanged, f"/api/values/{sent}")[0] in (400, 404)
    for target in (f"/api/requests/{sent}", f"/api/requests/{sent}/request", f"/api/requests?around={sent}"):
        assert ask(unchanged, target)[0] in (400, 404), target


@pytest.mark.parametrize("field", [field for field in LISTED_FIELDS if field != "property"])
def test_wildcards_in_a_prefix_match_themselves(unchanged: Dashboard, field: str) -> None:
    for prefix in ("%", "_", "%%%", "*", "p%n", "[p]", "pla_n", "\\%"):
        status, told = ask(unchanged, f"/api/values/{field}?prefix={quote(prefix)}")
        assert (status, told["data"]) == (200, []), prefix
    if field == "namespace":
        for target in ("/api/namespaces?prefix=", "/api/requests?namespace_prefix="):
            assert ask(unchanged, f"{target}%25")[1]["data"] == []
            assert ask(unchanged, f"{target}pla_n")[1]["data"] == []
            assert ask(unchanged, f"{target}pla")[1]["data"]


# -- A5: questions without an end ----------------------------------------------------------------------------------

LONG: Final = [
    "/api/requests?not.namespace=x&not.model=y&path=/nowhere",
    "/api/requests?property.none=1&property.other=2",
    "/api/requests?from=-999999w&to=9999-12-31&namespace_prefix=zzz",
    "/api/requests?" + "&".join(f"not.namespace=n{number}" for number in range(100)),
    "/api/requests?cursor=n0&user=nobody",
    "/api/count?not.namespace=x&property.none=1",
]


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A log that is too long for the time there is: none at all."""
    directory = tmp_path_factory.mktemp("hurried") / "store"
    opened = Dashboard(directory, query_seconds=0.0)
    for start in range(1, 20_001, 5_000):
        opened.record(*range(start, start + 5_000), namespace="plain", properties={"user": "42"})
    yield opened
    opened.close()


@pytest.mark.parametrize("target", LONG, ids=lambda target: target[:60])
def test_a_question_ends_at_its_deadline_and_says_so(hurried: Dashboard, target: str) -> None:
    status, told = ask(hurried, target)
    assert (status, told["complete"]) == (200, False), told
    assert told.get("data", []) == []


def test_questions_without_an_end_hold_up_neither_the_recorder_nor_its_checkpoints(hurried: Dashboard) -> None:
    for target in LONG:
        ask(hurried, target)
    hurried.record(20_001)
    connection = open_for_writing(hurried.directory, "process", 60.0)
    assert truncate_wal(connection, 60.0), "a reader still holds an old state of the log"
    connection.close()
    assert ask(hurried, f"/api/requests/{'00000000-0000-7000-8000-'}{20_001:012x}")[0] == 200


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
def test_a_question_beyond_its_limits_is_refused(unchanged: Dashboard, target: str) -> None:
    status, told = ask(unchanged, target)
    assert (status, told["error"]["code"]) == (400, "bad_parameter")
