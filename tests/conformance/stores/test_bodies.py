"""Every store: bodies and details come back byte for byte, or are said not to be stored."""

import random

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry, new_record_id

from relaybook.log.record import Detail
from relaybook.log.store.port import Body


def body(store, entry, side):
    pieces = store.reader.body(entry.record.id, side)
    return None if pieces is None else b"".join(pieces)


def at_hand(store, entry):
    """Both bodies where the record brings them along; a store need not."""
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
        assert at_hand(store, entry) in (None, (noise(n, n * 7), noise(-n, n)))


@pytest.mark.parametrize(
    ("request_", "response"), [(b"", b""), (b"a", b""), (b"", b"b"), (None, b"b"), (b"a", None), (None, None)]
)
def test_empty_and_missing_bodies_are_told_apart(store: Store, request_: bytes | None, response: bytes | None) -> None:
    entry = an_entry(request_, response)
    store.commit(entry)
    stored = store.reader.get(entry.record.id)
    assert body(store, entry, "request") == request_
    assert body(store, entry, "response") == response
    assert stored.request_size == (None if request_ is None else len(request_))
    assert stored.response_size == (None if response is None else len(response))
    assert at_hand(store, entry) in (None, (request_, response))


def test_bytes_set_aside_come_before_the_rest(store: Store) -> None:
    first, second = store.writer.write_body(b"one "), store.writer.write_body(b"two ")
    entry = an_entry(Body([first], [b"and ", b"rest"]), Body([second], []))
    store.commit(entry)
    assert body(store, entry, "request") == b"one and rest"
    assert body(store, entry, "response") == b"two "
    stored = store.reader.get(entry.record.id)
    assert (stored.request_size, stored.response_size) == (12, 4)
    assert at_hand(store, entry) in (None, (b"one and rest", b"two "))


def test_bytes_set_aside_in_an_earlier_commits_time_survive_a_restart(store: Store) -> None:
    ref = store.writer.write_body(b"early ")
    store.commit(an_entry())
    store.restart()
    entry = an_entry(Body([ref], [b"late"]))
    store.commit(entry)
    assert body(store, entry, "request") == b"early late"


def test_bodies_of_several_megabytes_come_in_pieces(store: Store) -> None:
    aside = [noise(n, 1 << 20) for n in range(3)]
    rest = noise(9, 3 << 20)
    entry = an_entry(Body([store.writer.write_body(part) for part in aside], [b"tail"]), rest)
    store.commit(entry)
    pieces = list(store.reader.body(entry.record.id, "request"))
    assert b"".join(pieces) == b"".join(aside) + b"tail"
    assert max(map(len, pieces)) <= 1 << 20
    assert body(store, entry, "response") == rest
    assert store.reader.get(entry.record.id).response_size == 3 << 20
    assert entry.response.rest == [rest]


def test_the_detail_comes_back_as_it_was_given(store: Store) -> None:
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
