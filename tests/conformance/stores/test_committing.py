"""All stores: the guarantees of a commit."""

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import a_record, an_entry, soon

from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter
from relaybook.log.record import Note
from relaybook.log.store.errors import BatchRejected

POISON = [
    'it\'s "quoted"; DROP TABLE requests; --',
    "100%_\\%",
    "\N{GRINNING FACE}\N{ZERO WIDTH JOINER}\N{WOMAN}",
    "\N{HEBREW LETTER ALEF}\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "é" * 256,
    "\U0010ffff\ufffe\ud7ff\ue000",
    "line\nbreak\ttab\x1b[31m",
    "",
    " ",
]


def test_a_record_is_returned_unchanged(store: Store) -> None:
    record = a_record(
        properties={"channel": "ios", "build": "4411"},
        warnings=[Note("value_cut", "The value was cut.")],
        notes=[Note("not_json", "The response is an HTML page.")],
        advice=[Note("cut_by_max_tokens", "…"), Note("doubled_path", "…")],
        stream=True,
        stream_requested=False,
        cost_usd=0.1 + 0.2,
        cached_tokens=0,
        reasoning_tokens=None,
        duration_ms=2**40 + 0.5,
    )
    entry = an_entry()
    entry.record = record
    store.commit(entry)
    assert record.seq == 1
    assert store.reader.get(record.id).record == record
    assert store.reader.page(Filter(), 50, None, soon()).records == [record]


def test_the_store_keeps_its_own_copy(store: Store) -> None:
    entry = an_entry(namespace="before")
    store.commit(entry)
    entry.record.namespace = "after"
    store.reader.page(Filter(), 1, None, soon()).records[0].namespace = "after"
    assert store.reader.get(entry.record.id).record.namespace == "before"


def test_records_are_numbered_in_the_order_in_which_they_are_recorded(store: Store) -> None:
    first, second, third = an_entry(started_at=30), an_entry(started_at=20), an_entry(started_at=10)
    store.commit(first, second)
    store.restart()
    store.commit(third)
    assert [entry.record.seq for entry in (first, second, third)] == [1, 2, 3]
    assert store.reader.last_seq() == 3


def test_an_entry_that_is_already_stored_is_skipped_and_not_counted_again(store: Store) -> None:
    entry = an_entry(namespace="once", properties={"channel": "ios"})
    again = an_entry(id=entry.record.id, namespace="twice", properties={"channel": "web"})
    other = an_entry(namespace="once")
    store.commit(entry)
    store.commit(again, other)
    assert [entry.record.seq, again.record.seq, other.record.seq] == [1, 1, 2]
    assert store.reader.get(entry.record.id).record.namespace == "once"
    assert [(row.namespace, row.requests) for row in namespaces(store)] == [("once", 2)]
    assert [count.value for count in store.reader.values("property.channel", "", 9, soon())] == ["ios"]
    assert store.reader.status().records == 2


def test_an_entry_that_occurs_twice_in_a_batch_is_stored_once(store: Store) -> None:
    entry = an_entry(response=b"first")
    again = an_entry(id=entry.record.id, response=b"second")
    store.commit(entry, again, an_entry())
    assert store.reader.last_seq() == 2
    assert again.record.seq == 1
    assert b"".join(store.reader.body(entry.record.id, "response")) == b"first"


@pytest.mark.parametrize("bad", [{"id": "1"}, {"model": "\ud800"}, {"status": 2**63}, {"properties": {"a": "\udfff"}}])
def test_a_rejected_batch_stores_nothing(store: Store, bad: dict[str, object]) -> None:
    kept = an_entry()
    store.commit(kept)
    with pytest.raises(BatchRejected):
        store.commit(an_entry(), an_entry(**bad), refused={"overloaded": 3})
    assert store.reader.last_seq() == 1
    assert sum(row.requests for row in namespaces(store)) == 1
    assert store.reader.status().refused == {}
    store.commit(later := an_entry(response=b"later"))
    assert later.record.seq == 2
    assert b"".join(store.reader.body(later.record.id, "response")) == b"later"


def test_an_entry_of_a_rejected_batch_uses_no_number(store: Store) -> None:
    good = an_entry()
    with pytest.raises(BatchRejected):
        store.commit(good, an_entry(user="\ud800"))
    assert good.record.seq is None


@pytest.mark.parametrize("text", POISON)
def test_hostile_text_is_stored_and_found(store: Store, text: str) -> None:
    entry = an_entry(namespace=text, model=text, user=text, provider_request_id=text, properties={text: text})
    store.commit(entry, an_entry(namespace="other"))
    assert store.reader.get(entry.record.id).record.properties == {text: text}
    assert [record.id for record in store.reader.find(text, 5)] == [entry.record.id]
    assert [count.value for count in store.reader.values(f"property.{text}", text, 5, soon())] == (
        [text] if text else []
    ) or not text
    rows, _ = store.reader.namespaces(NamespaceQuery(text=text), 5, None, soon())
    assert text in [row.namespace for row in rows]


def test_an_empty_batch_changes_nothing(store: Store) -> None:
    store.commit()
    assert store.reader.last_seq() == 0
    assert store.reader.status().records == 0


def namespaces(store):
    return store.reader.namespaces(NamespaceQuery(), 500, None, soon())[0]
