"""All stores: a filter selects exactly the records for which `filters.matches` is true."""

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.stores.conftest import Store
from tests.support.long import LONG
from tests.support.memory_store import MemoryStore
from tests.support.records import a_batch, a_record, an_entry, entries_of, new_record_id, soon

from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.feedback import combined
from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import NAMES, SECTIONS, Cursor, Filter, Sort, Term, matches
from relaybook.log.query.term_values import LISTED_FIELDS
from relaybook.log.record import CostReason, Feedback, Note, Record, StreamEnd
from relaybook.log.row import Code
from relaybook.log.store.port import Count
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

TEXTS = (
    "",
    "a",
    "ab",
    "a%",
    "a_",
    "A",
    "ä",
    "a\ud7ff",
    "a\ue000",
    "a\U0010ffff",
    "b'\"--",
    "\U0010ffff",
    "user-1",
    "user-12",
)
CHOICES = {
    "namespace": TEXTS,
    "model": ("gpt-4o", "gpt-5", "", "o'1"),
    "outcome": ("complete", "upstream_failed", "client_closed", "interrupted", "refused"),
    "kind": ("chat", "embedding", "other"),
    "path": ("/v1/chat/completions", "/v1/x%2Fy"),
    "key": ("aaa", "bbb"),
    "user": TEXTS,
    "session": TEXTS,
    "route": ("default", "cursor"),
    "finish_reason": ("stop", "length", "tool_calls", "refusal", "stop,length", "refusal,tool_calls", "lengthy"),
    "id": tuple(new_record_id() for _ in range(12)),
    "status": ("200", "404", "429", "500", "999", "2xx", "4xx", "5xx", "error"),
    "failed": ("true", "false"),
    "result": get_args(Code),
    "warning": ("value_cut", "unknown_header", "any"),
    "note": ("not_json", "value_cut", "any"),
    "advice": ("doubled_path", "value_cut", "any"),
    "stream_ended": get_args(StreamEnd),
    "cost_reason": (*get_args(CostReason)[:3], "any"),
    "from": ("0", "5", "2000000000000000"),
    "to": ("1", "5", "9"),
    "duration": (">100.0", "<=812.5", "<0.5", "unknown"),
    "first_token": (">1.0", "<1.0"),
    "cost": (">0.0", "<=0.25", ">=0.25", "unknown"),
    "input_tokens": ("=48.0", ">48.0"),
    "output_tokens": ("=37.0", ">37.0"),
    "retry_count": ("=0.0", ">=1.0"),
    "cached_tokens": ("=12.0", "<12.0", "unknown"),
    "cached_share": (">=0.25", "<1.0", "unknown"),
    "reasoning_tokens": (">0.0", "unknown"),
    "tokens_per_second": (">45.5", "<=45.5", "unknown"),
    "relay": (">0.3", "unknown"),
    "request_bytes": ("=10.0", ">10.0"),
    "response_bytes": ("=0.0", ">0.0"),
    "chunks": (">=1.0",),
    "score": (">0.0", "=-1.0", "<=0.5", "=0.1"),
    "label": ("good", "bad", "", *TEXTS[1:5]),
    "feedback": ("any", "none"),
    "property.channel": ("ios", "web", "é", ""),
    "property.'; --": ("x",),
}
codes = st.lists(
    st.sampled_from(("value_cut", "unknown_header", "not_json", "doubled_path")).map(lambda c: Note(c, "…")), max_size=3
)
feedback = st.builds(
    Feedback,
    source=st.sampled_from(("api", "dashboard", "users")),
    score=st.none() | st.sampled_from((-1.0, 0.0, 0.1, 1.0)),
    label=st.none() | st.sampled_from(CHOICES["label"]),
    at=st.integers(0, 3),
)
records = st.builds(
    a_record,
    id=st.sampled_from(CHOICES["id"]),
    started_at=st.integers(0, 10),
    outcome=st.sampled_from(CHOICES["outcome"]),
    failed=st.booleans(),
    namespace=st.sampled_from(TEXTS),
    properties=st.dictionaries(
        st.sampled_from(("channel", "'; --")), st.sampled_from(CHOICES["property.channel"] + ("x",)), max_size=2
    ),
    warnings=codes,
    notes=codes,
    advice=codes,
    stream_ended=st.none() | st.sampled_from(CHOICES["stream_ended"]),
    cost_reason=st.none() | st.sampled_from(CHOICES["cost_reason"][:-1]),
    feedback=st.lists(feedback, max_size=3).map(combined),
    route=st.sampled_from(CHOICES["route"]),
    path=st.sampled_from(CHOICES["path"]),
    kind=st.sampled_from(CHOICES["kind"]),
    model=st.none() | st.sampled_from(CHOICES["model"]),
    user=st.none() | st.sampled_from(TEXTS),
    session=st.none() | st.sampled_from(TEXTS),
    key=st.none() | st.sampled_from(CHOICES["key"]),
    finish_reason=st.none() | st.sampled_from(CHOICES["finish_reason"]),
    duration_ms=st.none() | st.sampled_from((0.0, 812.5)),
    first_token_ms=st.none() | st.just(2.0),
    cost_usd=st.none() | st.sampled_from((0.0, 0.25)),
    retry_count=st.none() | st.integers(0, 2),
    output_tokens=st.none() | st.sampled_from((0, 37)),
    cached_tokens=st.none() | st.sampled_from((0, 12, 48)),
    reasoning_tokens=st.none() | st.sampled_from((0, 3)),
    relay_ms=st.none() | st.sampled_from((0.25, 0.5)),
    request_bytes=st.sampled_from((0, 10, 11)),
    response_bytes=st.sampled_from((0, 10)),
    chunks=st.integers(0, 1),
    input_tokens=st.none() | st.sampled_from((0, 48, 2**62)),
    status=st.none() | st.sampled_from((200, 204, 404, 429, 500, 599, 999)),
    error_code=st.none()
    | st.sampled_from(
        ("upstream_timeout", "upstream_reset", "log_incomplete", "rate_limited", "stream_incomplete", "not_json")
    ),
)
exact_terms = st.sampled_from(sorted(CHOICES)).flatmap(
    lambda name: st.builds(
        Term, st.just(name), st.lists(st.sampled_from(CHOICES[name]), min_size=1, max_size=3).map(tuple), st.booleans()
    )
)
#: Text fields that support a search for a prefix.
PREFIX_FIELDS = (
    *("namespace", "model", "user", "session", "path", "key", "label", "property.channel", "property.'; --"),
)
prefix_terms = st.sampled_from(PREFIX_FIELDS).flatmap(
    lambda name: st.builds(
        Term,
        st.just(name),
        st.lists(st.sampled_from(CHOICES[name]), max_size=2).map(tuple),
        st.booleans(),
        st.lists(st.sampled_from(CHOICES[name]), min_size=1, max_size=2).map(tuple),
    )
)
terms = exact_terms | prefix_terms
filters_ = st.lists(terms, max_size=4).map(lambda found: Filter(tuple(found)))


def test_every_filter_is_tested_here() -> None:
    # namespace_prefix works like a prefix of namespace; test_text_search.py tests the others
    elsewhere = {"namespace_prefix", *SECTIONS, "contains"}
    assert set(NAMES) - elsewhere <= set(CHOICES)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("name", sorted(CHOICES))
def test_each_filter_selects_what_it_defines(store: Store, name: str, negated: bool) -> None:
    varied = [
        an_entry(
            id=record_id,
            started_at=n,
            outcome=CHOICES["outcome"][n % 5],
            failed=n % 3 == 0,
            namespace=TEXTS[n % len(TEXTS)],
            properties={"channel": CHOICES["property.channel"][n % 4]} if n % 2 else {"'; --": "x"},
            warnings=[Note("value_cut", "…")] * (n % 3),
            notes=[Note("not_json", "…")] * (n % 2),
            advice=[Note("doubled_path", "…")] if n % 4 == 0 else [],
            stream_ended=(None, *CHOICES["stream_ended"])[n % 4],
            cost_reason=(None, *CHOICES["cost_reason"][:-1])[n % 4],
            route=CHOICES["route"][n % 2],
            path=CHOICES["path"][n % 2],
            kind=CHOICES["kind"][n % 3],
            model=(None, "gpt-4o", "gpt-5")[n % 3],
            user=(None, *TEXTS)[n % 5],
            session=(None, *TEXTS)[n % 4],
            key=("aaa", None, "bbb")[n % 3],
            finish_reason=("stop", "length", None)[n % 3],
            status=(200, 404, None, 429, 500)[n % 5],
            error_code=(None, "upstream_timeout", "log_incomplete")[n % 3],
            first_token_ms=(None, 0.5, 2.0)[n % 3],
            cost_usd=(None, 0.0, 0.25, 1.0)[n % 4],
            retry_count=(None, 0, 1)[n % 3],
            cached_tokens=(None, 0, 12, 48)[n % 4],
            reasoning_tokens=(None, 0, 3)[n % 3],
            relay_ms=(None, 0.25, 0.5)[n % 3],
            request_bytes=(9, 10, 11)[n % 3],
            response_bytes=(0, 10)[n % 2],
            chunks=n % 2,
            feedback=[
                Feedback(source=source, score=(None, -1.0, 0.1, 1.0)[n % 4], label=CHOICES["label"][n % 7], at=n)
                for source in ("api", "dashboard")[: n % 3]
            ],
        )
        for n, record_id in enumerate(CHOICES["id"])
    ]
    store.commit(*varied)
    everything = [entry.record for entry in varied][::-1]
    values = CHOICES[name]
    for chosen in [(value,) for value in values] + [values[:2], values[-2:], values]:
        query = Filter((Term(name, chosen, negated),))
        expected = [record for record in everything if matches(query, record)]
        assert store.reader.page(query, 100, None, soon()).records == expected
        assert store.reader.count(query, soon()) == count_of(expected)
    tried = [Filter((Term(name, (value,), negated),)) for value in values]
    assert any(matches(query, record) for query in tried for record in everything)


@pytest.mark.parametrize("negated", [False, True])
def test_ids_are_found_by_a_prefix(store: Store, negated: bool) -> None:
    entries = [an_entry(id=f"{number:08x}-abcd-7{number:03x}-8000-00000000000{number % 10}") for number in range(300)]
    store.commit(*entries)
    records = [entry.record for entry in entries][::-1]
    last = records[0].id
    prefixes = [
        "",
        "0",
        "0000001",
        "00000012-",
        "00000012-abcd-7",
        last,
        f"{last}0",
        "0000-",
        "00000012a",
        "x",
        "é",
        "%",
    ]
    for prefix in [*prefixes, *(last[:length] for length in range(36))]:
        query = Filter((Term("id", (records[3].id,), negated, (prefix,)),))
        expected = [record for record in records if matches(query, record)]
        assert store.reader.page(query, 500, None, soon()).records == expected, prefix
        assert store.reader.count(query, soon()).requests == len(expected)


@pytest.mark.parametrize(("code", "reasons"), [("truncated", "stop,length"), ("tool_calls", "tool_calls,stop")])
def test_a_result_is_found_if_the_choices_of_a_response_ended_differently(
    store: Store, code: str, reasons: str
) -> None:
    usual = [an_entry(id=new_record_id(), finish_reason="stop") for _ in range(3000)]
    found = an_entry(id=new_record_id(), finish_reason=reasons)
    store.commit(*usual[:10], found, *usual[10:])
    query = Filter((Term("result", (code,)),))
    assert matches(query, found.record)
    assert store.reader.page(query, 100, None, soon()).records == [found.record]
    assert store.reader.count(query, soon()).requests == 1


@pytest.mark.parametrize(
    ("error_code", "result"), [("stream_incomplete", "incomplete"), ("not_json", "unexpected_body")]
)
def test_a_response_that_cannot_be_used_is_found_by_its_result(store: Store, error_code: str, result: str) -> None:
    found = an_entry(failed=True, error_code=error_code)
    others = [
        an_entry(failed=True, error_code=error_code, status=500),
        an_entry(failed=True, error_code=error_code, outcome="upstream_failed"),
        an_entry(failed=True, error_code="server_error"),
        an_entry(failed=True),
        an_entry(),
    ]
    store.commit(*others, found)
    query = Filter((Term("result", (result,)),))
    assert store.reader.page(query, 100, None, soon()).records == [found.record]
    others_found = store.reader.page(Filter((Term("result", (result,), negated=True),)), 100, None, soon()).records
    assert others_found == [entry.record for entry in reversed(others)]


def test_a_head_request_that_has_not_failed_is_found_by_its_result_and_not_as_failed(store: Store) -> None:
    probe = an_entry(method="HEAD", status=404)
    failed = an_entry(failed=True, status=404)
    store.commit(probe, failed, an_entry())
    found = {
        name: store.reader.page(Filter((Term(name, (value,)),)), 100, None, soon()).records
        for name, value in {"result": "not_found", "failed": "true"}.items()
    }
    assert found == {"result": [failed.record, probe.record], "failed": [failed.record]}


def test_a_result_with_hundreds_of_finish_reasons_is_found(store: Store) -> None:
    store.commit(*(an_entry(finish_reason=f"length,other{number}") for number in range(600)))
    query = Filter((Term("result", ("truncated",)),))
    assert len(store.reader.page(query, 1000, None, soon()).records) == 600
    assert store.reader.count(query, soon()).requests == 600


def test_a_filter_with_hundreds_of_values_is_answered(store: Store) -> None:
    fields: dict[str, Any] = {"namespace": "n7", "model": "m7", "user": "u7", "session": "s7", "key": "000000000007"}
    found = an_entry(properties={"a": "p7", "b": "q7"}, **fields)
    store.commit(*(an_entry() for _ in range(3)), found)
    numbers = range(100)
    names = ("namespace", "model", "user", "session")
    query = Filter(
        (
            *(Term(name, tuple(f"{name[0]}{n}" for n in numbers)) for name in names),
            Term("key", tuple(f"{n:012}" for n in numbers)),
            Term("property.a", tuple(f"p{n}" for n in numbers)),
            Term("property.b", tuple(f"q{n}" for n in numbers)),
        )
    )
    reader = store.reader
    assert reader.page(query, 10, None, soon()).records == [found.record]
    assert reader.count(query, soon()).requests == reader.feedback_totals(query, soon()).requests + 1 == 1
    assert reader.since(0, query, 10)[0] == [found.record]
    assert reader.top(query, Sort("duration_ms"), 10, soon()).records == [found.record]
    assert len(reader.links(query, 10, None, soon())) == 1
    for by in (None, "model", "property.a"):
        asked = StatsQuery(filter_=query, from_us=None, to_us=found.record.started_at + 1, by=by)
        assert reader.stats(asked, soon()).total.requests == 1


def count_of(found: list[Record]) -> Count:
    """Return the expected count for these records."""
    last_at = max((record.started_at for record in found), default=None)
    return Count(requests=len(found), failed=sum(record.failed for record in found), last_at=last_at)


@settings(max_examples=150 if LONG else 40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(records, max_size=12, unique_by=lambda record: record.id),
    st.lists(filters_, min_size=1, max_size=6),
    st.integers(1, 6),
    st.integers(0, 13),
)
def test_sqlite_returns_what_the_reference_returns(
    found: list[Record], queries: list[Filter], limit: int, seq: int
) -> None:
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        writer = stack.enter_context(closing(SqliteWriter(directory)))
        reader = stack.enter_context(closing(SqliteReader(directory)))
        reference = MemoryStore()
        for half in (found[: len(found) // 2], found[len(found) // 2 :]):
            writer.commit(a_batch(*entries_of(half)))
            reference.commit(a_batch(*entries_of(half)))
        for one in queries:
            counted = count_of([record for record in found if matches(one, record)])
            assert reader.count(one, soon()) == reference.count(one, soon()) == counted
            totals, expected = reader.feedback_totals(one, soon()), reference.feedback_totals(one, soon())
            assert (totals.requests, totals.scores) == (expected.requests, expected.scores)
            assert totals.score_sum == pytest.approx(expected.score_sum)
            for cursor in (None, Cursor("older", seq), Cursor("newer", seq)):
                assert reader.page(one, limit, cursor, soon()) == reference.page(one, limit, cursor, soon())
            assert reader.since(seq, one, limit) == reference.since(seq, one, limit)
            for record in found[:3]:
                assert reader.around(record.id, one, limit, soon()) == reference.around(record.id, one, limit, soon())
        for field in (*LISTED_FIELDS, "property.channel"):
            for prefix in ("", "a", "\U0010ffff"):
                assert reader.values(field, prefix, limit, soon()) == reference.values(field, prefix, limit, soon())
        for text, prefix in (("a", ""), ("", "a")):
            assert reader.namespaces(
                NamespaceQuery(text=text, prefix=prefix, sort="failed"), limit, None, soon()
            ) == reference.namespaces(NamespaceQuery(text=text, prefix=prefix, sort="failed"), limit, None, soon())
