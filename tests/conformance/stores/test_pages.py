"""All stores: pages from a cursor, pages around a record, and the records after a given record."""

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import an_entry, new_record_id, soon

from relaybook import clock
from relaybook.log.query.filters import Cursor, Filter, Term

STAGING = Filter((Term("namespace", ("staging",)),))


@pytest.fixture
def log(store):
    """Return a store with 25 records. Every third record is in the namespace staging."""
    store.commit(*(an_entry(namespace="staging" if number % 3 == 0 else "production") for number in range(1, 26)))
    return store


def seqs(page):
    return [record.seq for record in page.records]


def test_the_first_page_has_the_latest_records_first(log: Store) -> None:
    page = log.reader.page(Filter(), 10, None, soon())
    assert seqs(page) == list(range(25, 15, -1))
    assert page.complete
    assert (page.next_cursor, page.newer_cursor) == (Cursor("older", 16), Cursor("newer", 25))


@pytest.mark.parametrize("limit", [1, 2, 7, 24, 25, 26, 500])
@pytest.mark.parametrize("expected", [Filter(), STAGING])
def test_following_next_cursor_returns_every_record_once(log: Store, limit: int, expected: Filter) -> None:
    shown, cursor = [], None
    while True:
        page = log.reader.page(expected, limit, cursor, soon())
        shown += seqs(page)
        if page.next_cursor is None:
            break
        assert len(page.records) == limit
        cursor = page.next_cursor
    assert shown == [seq for seq in range(25, 0, -1) if expected == Filter() or seq % 3 == 0]


@pytest.mark.parametrize("limit", [1, 4, 25])
def test_following_newer_cursor_returns_every_record_once(log: Store, limit: int) -> None:
    shown, cursor = [], Cursor("newer", 0)
    while (page := log.reader.page(Filter(), limit, cursor, soon())).records:
        shown = seqs(page) + shown
        cursor = page.newer_cursor
    assert shown == list(range(25, 0, -1))
    assert page.newer_cursor is None


def test_a_newer_page_has_the_records_right_after_its_cursor(log: Store) -> None:
    page = log.reader.page(STAGING, 3, Cursor("newer", 6), soon())
    assert seqs(page) == [15, 12, 9]
    assert page.next_cursor == Cursor("older", 9)
    assert log.reader.page(STAGING, 3, Cursor("newer", 0), soon()).next_cursor is None


def test_records_that_arrive_meanwhile_are_on_the_newer_page_only(log: Store) -> None:
    first = log.reader.page(Filter(), 10, None, soon())
    log.commit(an_entry(), an_entry())
    assert seqs(log.reader.page(Filter(), 10, first.next_cursor, soon())) == list(range(15, 5, -1))
    assert seqs(log.reader.page(Filter(), 10, first.newer_cursor, soon())) == [27, 26]


def test_cursors_beyond_the_log_are_no_error(log: Store) -> None:
    assert seqs(log.reader.page(Filter(), 2, Cursor("older", 10**18 - 1), soon())) == [25, 24]
    assert log.reader.page(Filter(), 2, Cursor("older", 0), soon()).records == []
    assert log.reader.page(Filter(), 2, Cursor("newer", 10**18 - 1), soon()).records == []


def test_an_empty_log_has_an_empty_page(store: Store) -> None:
    page = store.reader.page(Filter(), 50, None, soon())
    assert (page.records, page.next_cursor, page.newer_cursor, page.complete) == ([], None, None, True)


def test_around_returns_the_record_between_its_neighbors_in_the_filter(log: Store) -> None:
    centre = log.reader.page(Filter(), 1, Cursor("older", 13), soon()).records[0]
    page = log.reader.around(centre.id, STAGING, 6, soon())
    assert seqs(page) == [21, 18, 15, 12, 9, 6]
    assert page.next_cursor == Cursor("older", 6)
    assert page.newer_cursor == Cursor("newer", 21)


def test_around_returns_the_record_even_if_the_filter_excludes_it(log: Store) -> None:
    centre = log.reader.page(Filter(), 1, Cursor("older", 14), soon()).records[0]
    assert seqs(log.reader.around(centre.id, STAGING, 4, soon())) == [18, 15, 13, 12]
    assert log.reader.around(centre.id, STAGING, 4, soon()).next_cursor == Cursor("older", 12)


@pytest.mark.parametrize(("seq", "expected"), [(25, [25, 24, 23]), (1, [3, 2, 1]), (2, [4, 3, 2, 1])])
def test_around_a_record_at_an_end_of_the_log(log: Store, seq: int, expected: list[int]) -> None:
    centre = log.reader.page(Filter(), 1, Cursor("older", seq + 1), soon()).records[0]
    page = log.reader.around(centre.id, Filter(), 5 if seq > 1 else 4, soon())
    assert seqs(page)[: len(expected)] == expected
    assert (page.next_cursor is None) == (seq < 3)


@pytest.mark.parametrize(("limit", "expected"), [(1, [13]), (2, [14, 13]), (3, [14, 13, 12])])
def test_the_smallest_pages_around_a_record_have_cursors(log: Store, limit: int, expected: list[int]) -> None:
    centre = log.reader.page(Filter(), 1, Cursor("older", 14), soon()).records[0]
    page = log.reader.around(centre.id, Filter(), limit, soon())
    assert seqs(page) == expected
    assert page.next_cursor == Cursor("older", expected[-1])


def test_around_an_unknown_record_returns_none(log: Store) -> None:
    assert log.reader.around(new_record_id(), Filter(), 5, soon()) is None


def test_since_returns_newer_records_and_how_far_it_read(log: Store) -> None:
    records, reached = log.reader.since(20, STAGING, 500)
    assert ([record.seq for record in records], reached) == ([21, 24], 25)
    records, reached = log.reader.since(3, STAGING, 2)
    assert ([record.seq for record in records], reached) == ([6, 9], 9)
    assert log.reader.since(25, Filter(), 10) == ([], 25)
    assert log.reader.since(99, Filter(), 10) == ([], 99)


def test_a_page_at_its_deadline_leads_to_the_records_it_omitted(store: Store) -> None:
    store.commit(an_entry(), an_entry())
    page = store.reader.page(Filter(), 5, None, clock.monotonic_ns() - 1)
    shown = seqs(page)
    assert page.complete == (shown == [2, 1])
    if not page.complete:
        shown += seqs(store.reader.page(Filter(), 5, page.next_cursor, soon()))
    assert shown == [2, 1]


def test_links_are_those_of_the_pages_records_with_their_message_chains(store: Store) -> None:
    entries = [
        an_entry(
            namespace="ab"[number % 2],
            completion_id=f"c{number}",
            session=f"s{number}" if number > 5 else None,
            model=f"m{number}" if number > 5 else None,
        )
        for number in range(9)
    ]
    for number, entry in enumerate(entries):
        entry.chain = None if number == 4 else b"chain %d" % number
    store.commit(*entries)
    expected = Filter((Term("namespace", ("a",)),))
    links = store.reader.links(expected, 3, None, soon())
    assert [(link.seq, link.chain) for link in links] == [(9, b"chain 8"), (7, b"chain 6"), (5, None)]
    assert [link.id for link in links] == [entries[number].record.id for number in (8, 6, 4)]
    assert links[0].completion_id == "c8"
    assert [link.session for link in links] == ["s8", "s6", None]
    assert [link.model for link in links] == ["m8", "m6", None]
    older = store.reader.links(expected, 3, Cursor("older", 5), soon())
    assert [link.seq for link in older] == [3, 1]
