"""Test the list of requests.

Every filter works, unknown parameters are rejected, and the pages contain each request exactly once.
"""

from typing import Any
from urllib.parse import quote

import pytest
from tests.support.api_log import client_of, log_of, open_of, record_of, running_of
from tests.support.asgi import Client
from tests.support.each import check_each
from tests.support.memory_store import MemoryStore

from relaybook.log.query.filters import NAMES, NUMBERS, SORT_FIELDS, Cursor, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.record import Note
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Batch, Page

GOOD_VALUES = {
    "id": "0199a3d2-0000-7000-8000-000000000001",
    "warning": "value_cut",
    "note": "not_json",
    "advice": "doubled_path",
    "stream_ended": "no_done",
    "cost_reason": "no_price",
    "outcome": "complete",
    "kind": "chat",
    "status": "4xx",
    "failed": "true",
    "result": "complete",
    "from": "-15m",
    "to": "-1s",
}
GOOD_VALUES |= dict.fromkeys(NUMBERS, "unknown")
GOOD_VALUES |= {"duration": "%3E2s", "first_token": "%3C9ms", "cost": "%3E1", "input_tokens": "1", "output_tokens": "1"}
GOOD_VALUES |= {"score": "-0.5", "feedback": "any"}
GOOD_VALUES |= {"retry_count": "%3E=1", "warning": "value_cut", "advice": "doubled_path"}
GOOD_VALUES |= {"id": "0199a3d2-0000-7000-8000-000000000001", "key": "3fa9c2d1e0b4"}


class Recording(MemoryStore):
    """A store that remembers the filters of all page queries."""

    def __init__(self) -> None:
        super().__init__()
        self.filters: list[Filter] = []

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        self.filters.append(filter_)
        return super().page(filter_, limit, cursor, deadline_ns)


def ids(response: Any) -> list[str]:
    return [row["id"] for row in response["data"]]


def error(client: Client, target: str) -> tuple[int, str | None, str]:
    response = client.get(target)
    return response.status, response.json()["error"]["param"], response.json()["error"]["code"]


NEGATABLE = [name for name in (*NAMES, "property.user-id") if name not in ("from", "to")]
#: Additional parameters that a filter requires, by the name of the filter.
REQUIRED = {"contains": "&from=-1h"}
FILTERS = [*((name, False) for name in (*NAMES, "property.user-id")), *((name, True) for name in NEGATABLE)]


def test_every_filter_name_reaches_the_store() -> None:
    def check(case: tuple[str, bool]) -> None:
        name, negated = case
        store = Recording()
        parameter = ("not." if negated else "") + name
        response = client_of(store).get(
            f"/api/requests?{parameter}={GOOD_VALUES.get(name, 'x%25%27%22')}{REQUIRED.get(name, '')}"
        )
        assert response.status == 200
        term = store.filters[0].terms[0]
        stored = "namespace" if name == "namespace_prefix" else name
        assert (term.name, term.negated) == (stored, negated)
        if name not in GOOD_VALUES:
            assert (term.values or term.prefixes) == ("x%'\"",)

    check_each(FILTERS, check)


def test_different_names_are_anded_and_repeated_names_are_ored() -> None:
    store = Recording()
    client_of(store).get("/api/requests?namespace=a&model=m&namespace=b&property.User_Id=7")
    assert store.filters[0].terms == (
        Term("namespace", ("a", "b")),
        Term("model", ("m",)),
        Term("property.user-id", ("7",)),
    )


@pytest.mark.parametrize(
    ("target", "param"),
    [
        ("nmespace=a", "nmespace"),
        ("not.nmespace=a", "not.nmespace"),
        ("property.=a", "property."),
        ("status=6000", "status"),
        ("status=-200", "status"),
        ("status=" + "9" * 400, "status"),
        ("not.status=abc", "not.status"),
        ("failed=yes", "failed"),
        ("outcome=done", "outcome"),
        ("kind=%00", "kind"),
        ("namespace=a%00b", "namespace"),
        ("from=10000-01-01T00:00:00Z", "from"),
        ("to=10000-01-01T00:00:00Z", "to"),
        ("from=-1h&from=-2h", "from"),
        ("not.from=-1h", "not.from"),
        ("limit=-1", "limit"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=99999999999999999999999999", "limit"),
        ("limit=5&limit=5", "limit"),
        ("not.limit=5", "not.limit"),
        ("cursor=", "cursor"),
        ("cursor=x5", "cursor"),
        ("cursor=o99999999999999999999", "cursor"),
        ('cursor=["last_at",1,"a"]', "cursor"),
        ("cursor=o5&cursor=o6", "cursor"),
        ("around=", "around"),
        ("around=x&cursor=o5", "around"),
        ("namespace=%zz", "namespace"),
        ("namespace=%C3", "namespace"),
        ("LIMIT=5", "LIMIT"),
        ("=a", ""),
    ],
)
def test_unknown_and_malformed_parameters_are_rejected_by_name(target: str, param: str) -> None:
    assert error(client_of(), f"/api/requests?{target}") == (400, param, "bad_parameter")


def test_a_query_adds_its_terms() -> None:
    store = Recording()
    client_of(store).get("/api/requests?model=a&q=-namespace:b*%20%22free%20text%22")
    assert store.filters[0].terms == (
        Term("model", ("a",)),
        Term("namespace", (), negated=True, prefixes=("b",)),
        Term("words", ("free text",)),
    )


@pytest.mark.parametrize("query", ["q=modell:x", "q=%22open", "q=!!", "q=a&q=b", "q=duration:2s"])
def test_an_invalid_query_is_rejected(query: str) -> None:
    assert error(client_of(), f"/api/requests?{query}") == (400, "q", "bad_parameter")


@pytest.mark.parametrize("value", ["'; DROP TABLE records; --", '" OR 1=1', "%", "_", "*", "\\", "../../etc/passwd"])
def test_special_characters_in_values_are_matched_literally(value: str) -> None:
    store = log_of(record_of(1, namespace=value), record_of(2, namespace="other"))
    response = client_of(store).get(f"/api/requests?namespace={quote(value, safe='')}")
    assert ids(response.json()) == [record_of(1).id]


def test_pages_cover_all_of_230_records_in_both_directions() -> None:
    records = [record_of(number) for number in range(1, 231)]
    client, newest_first = client_of(log_of(*records)), [record.id for record in records[::-1]]
    ids_seen: list[str] = []
    page = client.get("/api/requests").json()
    first_newer = page["newer_cursor"]
    while True:
        ids_seen += ids(page)
        oldest = page
        if page["next_cursor"] is None:
            break
        page = client.get(f"/api/requests?cursor={page['next_cursor']}").json()
    assert ids_seen == newest_first
    assert client.get(f"/api/requests?cursor={first_newer}").json()["data"] == []

    back = ids(oldest)
    page = oldest
    while (page := client.get(f"/api/requests?limit=7&cursor={page['newer_cursor']}").json())["data"]:
        back = ids(page) + back
    assert back == newest_first


def test_a_page_around_a_request_has_it_in_the_middle() -> None:
    records = [record_of(number) for number in range(1, 31)]
    client = client_of(log_of(*records))
    page = client.get(f"/api/requests?limit=5&around={records[14].id}").json()
    assert ids(page) == [records[index].id for index in (16, 15, 14, 13, 12)]
    assert "running" not in page
    assert ids(client.get(f"/api/requests?limit=2&cursor={page['next_cursor']}").json())[0] == records[11].id


def test_a_page_around_a_running_request_is_the_first_page() -> None:
    store = log_of(record_of(1))
    store.commit(Batch(running=[open_of(2)]))
    page = client_of(store).get(f"/api/requests?around={running_of(2).id}").json()
    assert [row["id"] for row in page["running"]] == [running_of(2).id]


def test_around_accepts_an_id_in_upper_case() -> None:
    record_id = "0199a3d2-0000-7000-8000-00000000000a"
    page = client_of(log_of(record_of(1, id=record_id))).get(f"/api/requests?around={record_id.upper()}").json()
    assert ids(page) == [record_id]


def test_around_an_unknown_id_is_not_found() -> None:
    assert error(client_of(), "/api/requests?around=nobody") == (404, "around", "not_found")


def test_only_the_first_page_has_running_requests_and_they_are_filtered() -> None:
    store = log_of(record_of(1), record_of(2))
    store.commit(Batch(running=[open_of(3, namespace="a"), open_of(4, namespace="b")]))
    client = client_of(store)
    first = client.get("/api/requests?namespace=a").json()
    assert [(row["id"], row["seq"]) for row in first["running"]] == [(running_of(3).id, None)]
    assert "running" not in client.get("/api/requests?cursor=o9").json()


def test_a_request_that_ended_meanwhile_is_not_also_running() -> None:
    store = log_of(record_of(1))
    store.commit(Batch(running=[open_of(1), open_of(2)]))
    page = client_of(store).get("/api/requests").json()
    assert [row["id"] for row in page["running"]] == [running_of(2).id]


def test_rows_have_timestamps_as_text_and_null_for_unknown_values() -> None:
    [row] = client_of(log_of(record_of(1, warnings=[Note("value_cut", "long")]))).get("/api/requests").json()["data"]
    assert row["started_at"] == "2026-01-01T00:00:01.000000Z"
    assert row["cost_usd"] is None
    assert row["warnings"] == [{"code": "value_cut", "message": "long"}]


def test_a_page_stopped_at_its_deadline_is_marked() -> None:
    class Slow(MemoryStore):
        def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
            return Page(records=[], next_cursor=Cursor("older", 7), newer_cursor=None, complete=False)

    page = client_of(Slow()).get("/api/requests").json()
    assert (page["complete"], page["next_cursor"]) == (False, "o7")


@pytest.mark.parametrize(
    ("failure", "code"), [(DeadlinePassed(), "deadline"), (StoreUnavailable("locked"), "store_unavailable")]
)
def test_a_failing_store_gets_a_503(failure: Exception, code: str) -> None:
    class Failing(MemoryStore):
        def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
            raise failure

    assert error(client_of(Failing()), "/api/requests") == (503, None, code)


def test_sort_returns_the_highest_values_without_cursors_and_running_requests() -> None:
    store = log_of(*(record_of(number, cost_usd=cost) for number, cost in enumerate((0.2, None, 0.9, 0.5))))
    store.commit(Batch(running=[open_of(9)]))
    page = client_of(store).get("/api/requests?sort=cost_usd&limit=2").json()
    assert [row["cost_usd"] for row in page["data"]] == [0.9, 0.5]
    assert (page["next_cursor"], page["newer_cursor"], page["complete"]) == (None, None, True)
    assert "running" not in page


def test_sort_applies_to_the_matching_requests() -> None:
    values = (("a", 5.0), ("b", 9.0), ("a", 7.0))
    store = log_of(*(record_of(at, namespace=name, duration_ms=ms) for at, (name, ms) in enumerate(values)))
    page = client_of(store).get("/api/requests?sort=duration_ms&namespace=a").json()
    assert [row["duration_ms"] for row in page["data"]] == [7.0, 5.0]


def test_sort_returns_200_requests_unless_a_limit_is_set() -> None:
    client = client_of(log_of(*(record_of(number, cost_usd=0.1) for number in range(201))))
    assert len(client.get("/api/requests?sort=cost_usd").json()["data"]) == 200
    assert len(client.get("/api/requests?sort=cost_usd&limit=500").json()["data"]) == 201


@pytest.mark.parametrize("position", ["cursor=o5", "around=0199a3d2-0000-7000-8000-000000000001"])
def test_sort_with_a_position_is_rejected(position: str) -> None:
    response = client_of(log_of()).get(f"/api/requests?sort=cost_usd&{position}")
    assert response.status == 400
    name = position.partition("=")[0]
    assert response.json()["error"]["param"] == "sort"
    assert f"sort cannot be combined with {name}" in response.json()["error"]["message"]


@pytest.mark.parametrize("sort", ["", "namespace", "cost", "ended_at"])
def test_an_unknown_sort_field_is_rejected(sort: str) -> None:
    response = client_of(log_of()).get(f"/api/requests?sort={sort}")
    assert response.status == 400
    assert response.json()["error"]["message"] == (f"sort is {sort!r}: expected one of {', '.join(SORT_FIELDS)}.")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("sort=cost_usd&order=up", "order is 'up': expected one of desc, asc."),
        ("order=asc", "order requires sort. Add sort, or remove order."),
    ],
)
def test_an_order_needs_a_direction_and_a_sort_field(parameters: str, message: str) -> None:
    response = client_of(log_of()).get(f"/api/requests?{parameters}")
    assert (response.status, response.json()["error"]["param"]) == (400, "order")
    assert response.json()["error"]["message"] == message


def test_a_sort_can_begin_with_the_lowest_values() -> None:
    log = log_of(record_of(1, cost_usd=0.5), record_of(2, cost_usd=None), record_of(3, cost_usd=0.25))
    rows = client_of(log).get("/api/requests?sort=cost_usd&order=asc").json()["data"]
    assert [row["cost_usd"] for row in rows] == [0.25, 0.5]


def test_the_live_stream_does_not_take_sort() -> None:
    assert error(client_of(log_of()), "/api/live?sort=cost_usd") == (400, "sort", "bad_parameter")


def test_rows_that_match_only_in_earlier_messages_say_so() -> None:
    store = log_of(record_of(1, duration_ms=1.0), record_of(2, duration_ms=2.0), record_of(3, duration_ms=3.0))
    texts = [SearchText("my refund"), SearchText("sent", "when", "my refund"), SearchText("hello")]
    store.add(list(enumerate(texts, 1)), 3)
    client = client_of(store)

    def marked(query: str) -> list[bool]:
        return [row.get("said_earlier", False) for row in client.get(f"/api/requests?{query}").json()["data"]]

    assert marked("words=refund") == [True, False]
    assert marked("begins.words=refu&sort=duration_ms") == [True, False]
    assert marked("said_here=refund") == [False]
    assert marked("prompt=refund") == [False]
    assert marked("not.words=nothing") == [False, False, False]
    # the request itself is in the page, although it does not contain the words
    assert marked(f"around={record_of(3).id}&words=refund") == [False, True, False]
    assert marked(f"around={record_of(2).id}&words=refund") == [True, False]
