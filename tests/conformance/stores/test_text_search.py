"""All stores: words from prompts and responses find their records, also together with every other filter."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import A_TIMESTAMP, a_record, an_entry, soon

from relaybook.log import search_text
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.query.filters import CONTAINS, WORDS, Cursor, Filter, Sort, Term
from relaybook.log.query.words import SEPARATOR
from relaybook.log.record import Record
from relaybook.log.store.entry import Body, Entry

DAY_US = 86_400_000_000

SAID = (
    "Where is my refund for order 4411?",
    "It was sent to Zürich on Monday.",
    "我的退款在哪里？",
    'A "quoted" thing AND NOT another; said: NEAR(x y)',
    "refund refund refunded",
    "",
)


def says(phrase: str, *, negated: bool = False) -> Term:
    """Return the term that searches for a phrase. If the phrase ends in ``*``, its last word is a prefix."""
    if phrase.endswith("*"):
        return Term(WORDS, (), negated, prefixes=(phrase[:-1],))
    return Term(WORDS, (phrase,), negated)


def contains(text: str, *, negated: bool = False) -> Term:
    return Term(CONTAINS, (text,), negated)


def request_with(text: str) -> bytes:
    """Return the body of a request with this prompt."""
    return json.dumps({"messages": [{"role": "user", "content": text}]}).encode()


def fill(store: Store) -> list[str]:
    """Record one request for each text. Returns the ids, newest first."""
    entries = [
        an_entry(request_with(text), b"{}", namespace="ab"[number % 2], failed=number == 4)
        for number, text in enumerate(SAID)
    ]
    store.commit(*entries)
    store.index(*entries)
    return [entry.record.id for entry in reversed(entries)]


def find(store: Store, *terms: Term, limit: int = 50) -> list[str]:
    return [record.id for record in store.reader.page(Filter(terms), limit, None, soon()).records]


@pytest.mark.parametrize(
    ("phrase", "numbers"),
    [
        ("refund", (4, 0)),
        ("REFUND", (4, 0)),
        ("refunded", (4,)),
        ("refun*", (4, 0)),
        ("my refun*", (0,)),
        ("ZÜRI*", (1,)),
        ("r*", (4, 0)),
        ("退*", (2,)),
        ("refund refund", (4,)),
        ("my refund for", (0,)),
        ("for my refund", ()),
        ("order-4411", (0,)),
        ("zurich", (1,)),
        ("退款", (2,)),
        ("款退", ()),
        ('"quoted"', (3,)),
        ("AND NOT", (3,)),
        ("said: NEAR(x y)", (3,)),
        ("said : nothing", ()),
        ("'; DROP TABLE requests; --", ()),
    ],
)
def test_words_find_the_records_that_contain_them(store: Store, phrase: str, numbers: tuple[int, ...]) -> None:
    ids = fill(store)[::-1]
    assert find(store, says(phrase)) == [ids[number] for number in numbers]


def test_a_star_in_a_phrase_is_no_prefix(store: Store) -> None:
    ids = fill(store)[::-1]
    assert find(store, Term(WORDS, ("refun*",))) == []
    assert find(store, Term(WORDS, ("my refund*",))) == [ids[0]]
    assert find(store, Term(WORDS, ("Monday",), prefixes=("quot",))) == [ids[3], ids[1]]


def test_a_prefix_of_more_words_than_an_index_merges_is_still_found(store: Store) -> None:
    entries = [an_entry(request_with(f"w{number} said"), b"{}", failed=number == 7) for number in range(300)]
    store.commit(*entries)
    store.index(*entries)
    ids = [entry.record.id for entry in reversed(entries)]
    assert find(store, says("w*"), limit=500) == ids
    assert find(store, says("w29*"), limit=500) == [*ids[:10], ids[270]]
    assert find(store, says("w*"), Term("failed", ("true",))) == [ids[292]]
    assert find(store, says("w*", negated=True)) == []
    assert store.reader.count(Filter((says("w*"),)), soon()).requests == 300


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Straße", "strasse"),
        ("STRASSE", "straße"),
        ("Straße", "stras*"),
        ("ﬁle", "file"),
        ("йогурт", "иогурт"),
        ("ёлка", "елка"),
        ("سَلام", "سلام"),
        ("שָׁלוֹם", "שלום"),
        ("कुल", "कल"),
        ("ა", "Ა"),
        ("İstanbul", "istanbul"),
        ("ὈΔΥΣΣΕΎΣ", "οδυσσευς"),
    ],
)
def test_case_and_diacritics_of_all_scripts_are_ignored(store: Store, text: str, phrase: str) -> None:
    entry = an_entry(request_with(f"before {text} after"), b"{}")
    store.commit(entry)
    store.index(entry)
    last_is_prefix = phrase.endswith("*")
    assert find(store, says(phrase)) == [entry.record.id]
    assert find(store, says(f"before {phrase}")) == [entry.record.id]
    assert last_is_prefix or find(store, says(f"{phrase} after")) == [entry.record.id]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("efun", (4, 0)),
        ("EFUN", (4, 0)),
        ("order 4411?", (0,)),
        ("zÜRICH", (1,)),
        ("zurich", ()),
        ("款在", (2,)),
        ("NEAR(x y)", (3,)),
        ('"quoted" ', (3,)),
        ("%", ()),
        ("_", ()),
        ("refund*", ()),
    ],
)
def test_a_substring_is_found_anywhere_in_a_text(store: Store, text: str, numbers: tuple[int, ...]) -> None:
    ids = fill(store)[::-1]
    assert find(store, contains(text)) == [ids[number] for number in numbers]


def test_a_substring_is_combined_with_other_filters(store: Store) -> None:
    ids = fill(store)[::-1]
    assert find(store, contains("efun"), Term("failed", ("true",))) == [ids[4]]
    assert find(store, contains("efun"), says("order")) == [ids[0]]
    assert find(store, contains("e", negated=True)) == [ids[5], ids[2]]
    assert find(store, Term(CONTAINS, ("order", "Monday"))) == [ids[1], ids[0]]
    assert store.reader.count(Filter((contains("efun"),)), soon()).requests == 2


def test_a_substring_is_found_before_it_is_indexed_and_beyond_what_an_index_covers(store: Store) -> None:
    late = an_entry(request_with(f"{'x ' * 20_000}needle"), b"{}")
    store.commit(late)
    assert find(store, contains("needle")) == [late.record.id]
    if store.text is not None:  # live connections get the record and its position only after indexing
        assert store.reader.since(0, Filter((contains("needle"),)), 10) == ([], 0)
    store.index(late)
    records, upto = store.reader.since(0, Filter((contains("needle"),)), 10)
    assert [record.id for record in records] == [late.record.id]
    assert upto == late.record.seq


def an_exchange(messages: list[Any], response: str, **fields: Any) -> Entry:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": response}}]}
    return an_entry(json.dumps({"messages": messages}).encode(), json.dumps(body).encode(), **fields)


CALL = {"id": "c", "type": "function", "function": {"name": "get_refund", "arguments": "{}"}}
#: A request whose texts, in the order of the search text, are ``alpha``, ``Rate limit``, ``beta question``,
#: ``get_refund {}``, ``退`` and ``款 42``.
TEXTS = an_exchange(
    [
        {"role": "system", "content": "款 42"},
        {"role": "user", "content": "退"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "user", "content": "beta question"},
    ],
    "alpha",
    error_message="Rate limit",
)


@pytest.mark.parametrize(
    "phrase",
    ["alpha rate", "alpha ra*", "limit beta", "question get", "question get_refund", "refund 退", "退款", "退 款*"],
)
def test_a_phrase_lies_within_one_text(store: Store, phrase: str) -> None:
    entry = msgspec.structs.replace(TEXTS, record=a_record(error_message="Rate limit"))
    store.commit(entry)
    store.index(entry)
    for words in ("alpha", "rate limit", "beta question", "beta quest*", "get_refund", "款 42"):
        assert find(store, says(words)) == [entry.record.id]
    assert find(store, says(phrase)) == []
    assert find(store, says(phrase, negated=True)) == [entry.record.id]
    assert store.reader.count(Filter((says(phrase),)), soon()).requests == 0
    assert store.reader.since(0, Filter((says(phrase),)), 10)[0] == []


@pytest.mark.parametrize(
    "text", ["alpha\nRate", f"alpha{SEPARATOR}Rate", SEPARATOR, "limitbeta", "}退", "退款", "退\n款"]
)
def test_a_substring_lies_within_one_text(store: Store, text: str) -> None:
    entry = msgspec.structs.replace(TEXTS, record=a_record(error_message="Rate limit"))
    store.commit(entry)
    store.index(entry)
    assert find(store, contains("limit")) == [entry.record.id]
    assert find(store, contains(text)) == []
    assert find(store, contains(text, negated=True)) == [entry.record.id]
    assert store.reader.count(Filter((contains(text),)), soon()).requests == 0
    assert store.reader.since(0, Filter((contains(text),)), 10)[0] == []


def test_a_separator_in_a_text_or_phrase_is_no_word(store: Store) -> None:
    entry = an_entry(request_with(f"alpha {SEPARATOR} beta {SEPARATOR}"), b"{}")
    store.commit(entry)
    store.index(entry)
    assert find(store, says(f"{SEPARATOR} alpha{SEPARATOR}")) == [entry.record.id]
    assert find(store, says(SEPARATOR)) == find(store, says(f"{SEPARATOR}*")) == []
    assert find(store, says(f"alpha {SEPARATOR} beta")) == []


@pytest.mark.parametrize("term", [says("refund"), says("refun*"), contains("efun")])
def test_requests_with_a_text_are_aggregated(store: Store, term: Term) -> None:
    fill(store)
    question = StatsQuery(
        filter_=Filter((term,)), from_us=A_TIMESTAMP - DAY_US, to_us=A_TIMESTAMP + DAY_US, bucket_s=3600
    )
    assert store.reader.stats(question, soon()).total.requests == 2


def test_a_text_that_cannot_be_read_because_of_a_bug_does_not_stop_the_search(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill(store)[::-1]
    texts = search_text._response_texts

    def failing(record: Record, response: Any) -> Iterator[str]:
        if record.id == ids[2]:
            raise RuntimeError("a defect")
        return texts(record, response)

    monkeypatch.setattr(search_text, "_response_texts", failing)
    assert find(store, contains("efun")) == [ids[4], ids[0]]


def test_words_are_combined_with_other_filters(store: Store) -> None:
    ids = fill(store)[::-1]
    assert find(store, says("refund"), Term("failed", ("true",))) == [ids[4]]
    assert find(store, says("refund"), Term("namespace", ("b",))) == []
    assert find(store, says("refund"), says("order")) == [ids[0]]
    assert find(store, says("refund"), says("order", negated=True)) == [ids[4]]
    assert find(store, says("refund", negated=True)) == [ids[5], ids[3], ids[2], ids[1]]
    assert store.reader.count(Filter((says("refund"),)), soon()).requests == 2


def test_pages_of_a_word_search_continue_where_they_ended(store: Store) -> None:
    ids = fill(store)[::-1]
    expected = Filter((says("refund"),))
    first = store.reader.page(expected, 1, None, soon())
    assert [record.id for record in first.records] == [ids[4]]
    second = store.reader.page(expected, 1, first.next_cursor, soon())
    assert [record.id for record in second.records] == [ids[0]]
    newer = store.reader.page(expected, 5, Cursor("newer", second.records[0].seq or 0), soon())
    assert [record.id for record in newer.records] == [ids[4]]


def test_records_that_are_not_indexed_yet_are_returned_once_they_are(store: Store) -> None:
    fill(store)
    expected = Filter((says("refund"),))
    known = store.reader.last_seq()
    late = an_entry(request_with("a refund"))
    store.commit(late)
    if store.text is not None:
        assert store.reader.since(known, expected, 10) == ([], known)
    store.index(late)
    records, upto = store.reader.since(known, expected, 10)
    assert [record.id for record in records] == [late.record.id]
    assert upto == late.record.seq


def test_the_index_reports_its_progress(store: Store) -> None:
    assert store.reader.status().indexed_to == 0
    fill(store)
    assert store.reader.status().indexed_to == len(SAID)
    if store.text is not None:
        assert store.text.indexed_to() == len(SAID)


def test_without_an_index_nothing_is_found_and_nothing_fails(store: Store) -> None:
    store.commit(an_entry())
    assert find(store, says("question")) == []
    assert len(find(store, says("question", negated=True))) == 1


def test_entries_are_returned_completely_and_in_order(store: Store) -> None:
    ref = store.writer.write_body(b"aside, ")
    large = Body(rest=[b"x" * 400_000])
    entries = [
        an_entry(b"one", b"two"),
        an_entry(Body(refs=[ref], rest=[b"rest"]), None),
        an_entry(large, b"small"),
    ]
    entries[1].chain = b"a chain"
    store.commit(*entries)
    found = store.reader.entries(0, 10, 1000)
    assert [entry.record.seq for entry in found] == [1, 2, 3]
    assert [entry.chain for entry in found] == [None, b"a chain", None]
    assert bodies(found[0]) == (b"one", b"two")
    assert bodies(found[1]) == (b"aside, rest", None)
    assert bodies(found[2]) == (None, b"small")
    assert bodies(store.reader.entries(2, 1, 1 << 20)[0]) == (b"x" * 400_000, b"small")
    assert [entry.record.seq for entry in store.reader.entries(1, 1, 1000)] == [2]
    # The entries have 6, 11 and 5 bytes. As many as fit together are returned, but at least one.
    assert [entry.record.seq for entry in store.reader.entries(0, 10, 17)] == [1, 2]
    assert [entry.record.seq for entry in store.reader.entries(0, 10, 16)] == [1]
    assert [entry.record.seq for entry in store.reader.entries(1, 10, 11)] == [2]
    assert [entry.record.seq for entry in store.reader.entries(0, 10, 5)] == [1]
    assert store.reader.entries(3, 10, 1000) == []


def bodies(entry: Entry) -> tuple[bytes | None, bytes | None]:
    bodies_of = [None if body is None else b"".join(body.rest) for body in (entry.request, entry.response)]
    return bodies_of[0], bodies_of[1]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([says("refund")], [4, 0]),
        ([says("refund*")], [4, 0]),
        ([says("sent"), says("nothing")], []),
        ([contains("order")], [0]),
        ([contains("e"), Term("namespace", ("b",))], [1, 3]),
        ([says("refund", negated=True)], [1, 2, 3, 5]),
    ],
)
def test_a_text_search_can_be_sorted(store: Store, terms: list[Term], expected: list[int]) -> None:
    costs = (0.1, 0.9, 0.8, 0.7, 0.6, 0.5)
    entries = [
        an_entry(request_with(text), b"{}", namespace="ab"[number % 2], cost_usd=cost)
        for number, (text, cost) in enumerate(zip(SAID, costs, strict=True))
    ]
    store.commit(*entries)
    store.index(*entries)
    page = store.reader.top(Filter(tuple(terms)), Sort("cost_usd"), 200, soon())
    assert [record.id for record in page.records] == [entries[number].record.id for number in expected]


def turns(*texts: str) -> Iterator[Entry]:
    """Yield the requests of a conversation. The texts are from the user and the assistant in turn."""
    messages: list[dict[str, str]] = []
    for asked, answered in zip(texts[::2], texts[1::2], strict=True):
        messages.append({"role": "user", "content": asked})
        said = {"role": "assistant", "content": answered}
        response = {"choices": [{"index": 0, "message": said}]}
        yield an_entry(json.dumps({"messages": messages}).encode(), json.dumps(response).encode())
        messages.append(said)


@pytest.mark.parametrize(
    ("name", "phrase", "found"),
    [
        ("words", "the refund", (0, 1, 2)),
        ("said_here", "the refund", (0, 1)),
        ("response", "the refund", (1,)),
        ("prompt", "the refund", (0, 1, 2)),
        ("said_here", "REFU*", (0, 1)),
        ("response", "the refu*", (1,)),
        ("prompt", "order", (1, 2)),
        ("said_here", "order", (0, 1)),
        ("said_here", "when the", ()),
        ("response", "monday", (1,)),
        ("prompt", "tuesday", ()),
    ],
)
def test_words_are_found_in_a_part_of_the_conversation(
    store: Store, name: str, phrase: str, found: tuple[int, ...]
) -> None:
    entries = list(turns("the refund", "Order?", "when", "the refund: Monday. Order!", "thanks", "Tuesday"))
    store.commit(*entries)
    store.index(*entries)
    ids = [entry.record.id for entry in entries]
    term = Term(name, (), prefixes=(phrase[:-1],)) if phrase.endswith("*") else Term(name, (phrase,))
    expected = [ids[at] for at in found]
    assert find(store, term) == expected[::-1]
    assert find(store, Term("outcome", ("complete",)), term) == expected[::-1]
    assert find(store, msgspec.structs.replace(term, negated=True)) == [id_ for id_ in ids[::-1] if id_ not in expected]
