"""All stores: bodies and details are returned byte for byte, or reported as not stored."""

import random

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry, new_record_id

from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Detail
from relaybook.log.request_view import RequestView
from relaybook.log.store.entry import Body


def body(store, entry, side):
    chunks = store.reader.body(entry.record.id, side)
    return None if chunks is None else b"".join(chunks)


def inline_bodies(store, entry):
    """Return both bodies if the store returns bodies with the record, which is optional. Otherwise, return `None`."""
    stored = store.reader.get(entry.record.id)
    return None if stored.request is stored.response is None else (stored.request, stored.response)


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def test_bodies_come_back_byte_for_byte(store: Store) -> None:
    entries = [an_entry(noise(n, n * 7), noise(-n, n)) for n in range(1, 40)]
    store.commit(*entries)
    store.restart()
    for n, entry in enumerate(entries, 1):
        assert body(store, entry, "request") == noise(n, n * 7)
        assert body(store, entry, "response") == noise(-n, n)
        assert inline_bodies(store, entry) in (None, (noise(n, n * 7), noise(-n, n)))


@pytest.mark.parametrize(
    ("request_", "response"), [(b"", b""), (b"a", b""), (b"", b"b"), (None, b"b"), (b"a", None), (None, None)]
)
def test_empty_and_missing_bodies_are_distinguished(
    store: Store, request_: bytes | None, response: bytes | None
) -> None:
    entry = an_entry(request_, response)
    store.commit(entry)
    stored = store.reader.get(entry.record.id)
    assert body(store, entry, "request") == request_
    assert body(store, entry, "response") == response
    assert stored.request_size == (None if request_ is None else len(request_))
    assert stored.response_size == (None if response is None else len(response))
    assert inline_bodies(store, entry) in (None, (request_, response))


def test_bytes_stored_early_come_before_the_rest(store: Store) -> None:
    first, second = store.writer.write_body(b"one "), store.writer.write_body(b"two ")
    entry = an_entry(Body([first], [b"and ", b"rest"]), Body([second], []))
    store.commit(entry)
    assert body(store, entry, "request") == b"one and rest"
    assert body(store, entry, "response") == b"two "
    stored = store.reader.get(entry.record.id)
    assert (stored.request_size, stored.response_size) == (12, 4)
    assert inline_bodies(store, entry) in (None, (b"one and rest", b"two "))


def test_bytes_stored_before_an_earlier_commit_survive_a_restart(store: Store) -> None:
    ref = store.writer.write_body(b"early ")
    store.commit(an_entry())
    store.restart()
    entry = an_entry(Body([ref], [b"late"]))
    store.commit(entry)
    assert body(store, entry, "request") == b"early late"


def test_bodies_of_several_megabytes_are_returned_in_chunks(store: Store) -> None:
    early = [noise(n, 1 << 20) for n in range(3)]
    remaining = noise(9, 3 << 20)
    entry = an_entry(Body([store.writer.write_body(part) for part in early], [b"tail"]), remaining)
    store.commit(entry)
    chunks = list(store.reader.body(entry.record.id, "request"))
    assert b"".join(chunks) == b"".join(early) + b"tail"
    assert max(map(len, chunks)) <= 1 << 20
    assert body(store, entry, "response") == remaining
    assert store.reader.get(entry.record.id).response_size == 3 << 20
    assert entry.response.rest == [remaining]


def test_the_detail_is_returned_unchanged(store: Store) -> None:
    detail = Detail(
        reason="Not Found",
        request_head=b"Host: a\r\nX-Odd: \xff\xfe",
        response_head=b"",
        chunk_at_us=[0, 10**12],
        chunk_bytes=[1, 2],
        response_sha256="ab" * 32,
    )
    entry = an_entry(None, None, detail)
    store.commit(entry)
    assert store.reader.get(entry.record.id).detail == detail


def test_a_record_that_does_not_exist_has_no_bodies(store: Store) -> None:
    assert store.reader.body(new_record_id(), "request") is None
    assert store.reader.get(new_record_id()) is None
    assert store.reader.get("no id at all'") is None


def test_stored_since_returns_the_records_of_since_with_their_bodies(store: Store) -> None:
    entries = [
        an_entry(noise(n, n), None if n % 2 else noise(-n, n), Detail(reason=str(n)), failed=n > 5) for n in range(1, 9)
    ]
    store.commit(*entries)
    failed = Filter((Term("failed", ("true",)),))
    found, reached = store.reader.stored_since(6, failed, 500)
    stored = list(found)
    assert reached == 8
    assert [each.record.seq for each in stored] == [7, 8]
    assert [each.detail.reason for each in stored] == ["7", "8"]
    assert [(each.request_size, each.response_size) for each in stored] == [(7, None), (8, 8)]
    for each, n in zip(stored, (7, 8), strict=True):
        assert b"".join(RequestView.of_stored(store.reader, each).transferred("request")) == noise(n, n)
    assert store.reader.stored_since(0, Filter(), 3)[1] == 3
    found, reached = store.reader.stored_since(8, Filter(), 3)
    assert (list(found), reached) == ([], 8)
