"""Test how time ranges are mapped to classified ranges of records."""

import apsw
import pytest

from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.sqlite.index.block_ranges import (
    ClassifiedRange,
    classified_ranges,
    ranges_in_time,
    without_time_terms,
)
from relaybook.log.store.sqlite.index.counters import ADD_BLOCK_RANGES
from relaybook.log.store.sqlite.schema import BLOCK, BLOCK_EXTREMES, create_tables

WITHIN = (1, 1_000_000)


@pytest.fixture
def connection() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    create_tables(made, "it")
    return made


def test_a_time_range_maps_to_the_blocks_that_overlap_it(connection: apsw.Connection) -> None:
    blocks = [(0, 0, 100), (1, 101, 200), (2, 150, 300), (3, 301, 400), (4, 120, 500)]
    connection.executemany(
        ADD_BLOCK_RANGES, [(*block, 1, 0, 1, *(None,) * 2 * len(BLOCK_EXTREMES)) for block in blocks]
    )

    def spans(*terms: tuple[str, str]) -> list[tuple[int, int]]:
        return ranges_in_time(connection, Filter(tuple(Term(name, (value,)) for name, value in terms)), WITHIN)

    assert spans() == [WITHIN]
    assert spans(("from", "301")) == [(3 * BLOCK, 5 * BLOCK)]
    assert spans(("to", "101")) == [(1, BLOCK)]
    assert spans(("from", "150"), ("to", "201")) == [(BLOCK, 3 * BLOCK), (4 * BLOCK, 5 * BLOCK)]
    assert spans(("from", "501")) == []

    def parts(*terms: tuple[str, str]) -> list[ClassifiedRange]:
        wanted = Filter(tuple(Term(name, (value,)) for name, value in terms))
        return classified_ranges(connection, wanted, WITHIN)

    assert parts() == [(WITHIN, True)]
    assert parts(("from", "150")) == [
        ((BLOCK, 2 * BLOCK), False),
        ((2 * BLOCK, 4 * BLOCK), True),
        ((4 * BLOCK, 5 * BLOCK), False),
    ]
    assert parts(("to", "401")) == [((1, 4 * BLOCK), True), ((4 * BLOCK, 5 * BLOCK), False)]
    assert parts(("to", "400")) == [((1, 3 * BLOCK), True), ((3 * BLOCK, 5 * BLOCK), False)]
    assert parts(("from", "120"), ("to", "501"))[-1] == ((2 * BLOCK, 5 * BLOCK), True)


def test_only_non_negated_time_terms_are_removed_from_a_filter() -> None:
    others = (Term("model", ("rare",)), Term("from", ("5",), negated=True), Term("to", ()))
    assert without_time_terms(Filter((Term("from", ("5",)), *others, Term("to", ("9",))))) == Filter(others)
