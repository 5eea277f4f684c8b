"""All stores: requests that can be replayed are listed with the hashes of their bodies, also of large ones."""

from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry

from relaybook import clock
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Detail, ExchangeFacts
from relaybook.log.request_key import key_of

LARGE = b'{"prompt": "' + b"x" * 3_000_000 + b'"}'


def asker_of(store: Store) -> Asker:
    return Asker(store.reader, clock.monotonic_ns() + 30 * clock.NANOSECONDS)


def test_requests_are_listed_in_the_order_of_recording_with_their_hashes(store: Store) -> None:
    entries = [
        an_entry(b'{"a": 1}', b"{}", Detail()),
        an_entry(LARGE, b"{}", Detail()),
        an_entry(b'{"a": 2}', b"{}", Detail(), failed=True),
        an_entry(b"", b"{}", Detail(), failed=True),
    ]
    store.commit(*entries)
    page = asker_of(store).replayable(Filter())
    assert [each.id for each in page.data] == [entry.record.id for entry in entries]
    assert [each.key for each in page.data] == [key_of(body) for body in (b'{"a": 1}', LARGE, b'{"a": 2}', b"")]
    assert (page.omitted, page.complete) == (0, True)
    assert asker_of(store).replayable(Filter(), page.after).data == []
    failed = asker_of(store).replayable(Filter((Term("failed", ("true",)),)))
    assert [each.id for each in failed.data] == [entry.record.id for entry in entries[2:]]


def test_requests_that_are_not_whole_in_the_log_are_omitted(store: Store) -> None:
    store.commit(
        an_entry(None, None, Detail(), body_state="no_bodies"),
        an_entry(b"{}", b"{}", None, body_state="expired"),
        an_entry(b"{}", b"{}", Detail(response_sha256="0" * 64)),
        an_entry(b"{", b"{}", Detail(exchange=ExchangeFacts(has_whole_request=False))),
    )
    page = asker_of(store).replayable(Filter())
    omitted = page.omitted
    while not page.complete:  # a page ends after a second
        page = asker_of(store).replayable(Filter(), page.after)
        omitted += page.omitted
    assert (page.data, omitted) == ([], 4)
