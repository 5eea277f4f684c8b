"""Test which value is suggested if no request has the given value."""

from typing import Any

import pytest
from tests.support.api_log import client_of, entry_of, log_of, open_of, record_of
from tests.support.memory_store import MemoryStore
from tests.support.records import soon

from relaybook.log.likely_values import likely_value, likely_values_of
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Batch, Page


@pytest.fixture(scope="module")
def log() -> MemoryStore:
    return log_of(
        record_of(1, namespace="production", properties={"channel": "iOS"}),
        record_of(2, namespace="user-8f3a2b1cc91e", model="GPT-5"),
        record_of(3, namespace="team-a", model="gpt-5-mini"),
        record_of(4, namespace="team-b"),
    )


@pytest.mark.parametrize(
    ("value", "known", "likely"),
    [
        ("Production", ["staging", "production"], "production"),
        ("IOS", ["ios", "iOS"], None),
        ("8f3a2b", ["user-8f3a2b1cc91e", "user-77"], "user-8f3a2b1cc91e"),
        ("c91E", ["user-8f3a2b1cc91e"], "user-8f3a2b1cc91e"),
        ("user", ["user-1", "user-2"], None),
        ("o4", ["o4-mini", "o1"], "o4-mini"),
        ("1cc", ["user-8f3a2b1cc91e"], None),
        ("prodcution", ["production"], "production"),
        ("x", ["production"], None),
        ("", ["production"], None),
    ],
)
def test_the_likely_value_differs_by_case_contains_the_value_or_is_spelled_similarly(
    value: str, known: list[str], likely: str | None
) -> None:
    assert likely_value(value, known) == likely


@pytest.mark.parametrize(
    ("term", "instead", "message"),
    [
        (
            Term("namespace", ("Production",)),
            ("namespace", "production"),
            "No request has the namespace Production. Did you mean production?",
        ),
        (
            Term("words", ("8f3a2b",)),
            ("namespace", "user-8f3a2b1cc91e"),
            "1 request has the namespace user-8f3a2b1cc91e.",
        ),
        (Term("response", ("team-b",)), ("namespace", "team-b"), "1 request has the namespace team-b."),
        (Term("namespace", ("user-8f3a",)), ("namespace", "user-8f3a2b1cc91e"), "Did you mean user-8f3a2b1cc91e?"),
        (Term("namespace", ("team",)), ("begins.namespace", "team"), "Did you mean a value that begins with team?"),
        (Term("model", ("gpt-5",)), ("model", "GPT-5"), "No request has the model gpt-5."),
        (Term("property.channel", ("ios",)), ("property.channel", "iOS"), "No request has the channel ios."),
        (Term("property.chanel", ("iOS",)), ("property.channel", "iOS"), "No request has a property chanel."),
    ],
)
def test_a_likely_value_names_the_value_that_was_probably_meant(
    log: MemoryStore, term: Term, instead: tuple[str, str], message: str
) -> None:
    (likely,) = likely_values_of(log, Filter((term,)), soon())
    assert (likely.param, likely.value) == (term.name, term.values[0])
    assert likely.instead == instead
    assert message in likely.message


@pytest.mark.parametrize(
    "term",
    [
        Term("namespace", ("production",)),
        Term("namespace", ("Production",), negated=True),
        Term("namespace", (), prefixes=("Prod",)),
        Term("namespace", ("zzz",)),
        Term("property.zzz", ("x",)),
        Term("status", ("500",)),
        Term("words", ("Production",), negated=True),
        Term("words", ("nobody",)),
    ],
)
def test_there_is_no_likely_value_for_other_terms(log: MemoryStore, term: Term) -> None:
    assert likely_values_of(log, Filter((term,)), soon()) == []


def test_only_an_empty_first_page_has_likely_values(log: MemoryStore) -> None:
    client = client_of(log)
    page = client.get("/api/requests?namespace=Production").json()
    assert page["data"] == []
    assert page["likely_values"] == [
        {
            "param": "namespace",
            "value": "Production",
            "instead": ["namespace", "production"],
            "message": "No request has the namespace Production. Did you mean production?",
        }
    ]
    for query in ("namespace=production", "namespace=zzz", "namespace=Production&cursor=o1", "status=500"):
        assert "likely_values" not in client.get(f"/api/requests?{query}").json()


def test_a_page_with_running_requests_or_without_time_has_no_likely_values() -> None:
    running = log_of(record_of(1, namespace="production"))
    running.commit(Batch(running=[open_of(2, namespace="Production")]))
    assert "likely_values" not in client_of(running).get("/api/requests?namespace=Production").json()

    class Slow(MemoryStore):
        def values(self, *_: Any) -> Any:
            raise DeadlinePassed

    assert "likely_values" not in client_of(Slow()).get("/api/requests?namespace=Production").json()


class CutOff(MemoryStore):
    """A log in which every search for a page is stopped at its deadline."""

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        return Page(records=[], next_cursor=None, newer_cursor=None, complete=False)


def test_no_value_is_suggested_for_a_value_whose_search_was_stopped() -> None:
    log = CutOff()
    log.commit(Batch(entries=[entry_of(record_of(1, namespace="production"))]))
    assert likely_values_of(log, Filter((Term("namespace", ("Production",)),)), soon()) == []
