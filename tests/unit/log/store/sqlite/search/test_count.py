"""Test that a count is incomplete after the deadline, and that stored counters are returned even then."""

import apsw
import pytest
from tests.support.records import a_record, soon

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.port import Count
from relaybook.log.store.sqlite.index import counters
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import BLOCK, create_tables
from relaybook.log.store.sqlite.search.count import count
from relaybook.log.store.sqlite.search.scan import Deadline

RECORDS = 20 * BLOCK
KIND, MODEL, SINCE = Term("kind", ("chat",)), Term("model", ("m",)), Term("from", (str(5 * BLOCK + 7),))


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    """Return a log with `started_at` equal to `seq` in every record.

    Every second record has the model `m`, and every fourth record failed.
    """
    made = apsw.Connection(":memory:")
    create_tables(made, "it")
    records = [a_record(started_at=seq, model="mn"[seq % 2], failed=seq % 4 == 0) for seq in range(1, RECORDS + 1)]
    made.executemany(INSERT, [row_of(record, record.started_at, b"") for record in records])
    made.executemany(counters.ADD_NAMESPACES, counters.namespace_counters(records))
    made.executemany(counters.ADD_VALUES, counters.value_counters(records))
    made.executemany(counters.ADD_BLOCK_RANGES, counters.block_ranges(records, 1))
    made.execute("UPDATE totals SET value = ? WHERE name IN ('last_seq', 'records')", (RECORDS,))
    return made


class CheckLimitedDeadline(Deadline):
    """A deadline that passes after it was checked ``checks`` times."""

    def __init__(self, checks: int) -> None:
        super().__init__(0)
        self.checks = checks

    def has_passed(self) -> bool:
        self.checks -= 1
        return self.checks < 0


def counted(connection: apsw.Connection, *terms: Term, deadline: Deadline | None = None) -> Count:
    return count(connection, Filter(terms), deadline or Deadline(soon()))


def test_all_counting_methods_agree(connection: apsw.Connection) -> None:
    whole = Count(requests=RECORDS, failed=RECORDS // 4, last_at=RECORDS)
    assert counted(connection) == counted(connection, KIND) == whole
    assert counted(connection, Term("namespace", ("production",))) == whole
    assert counted(connection, MODEL) == counted(connection, KIND, MODEL)
    assert counted(connection, SINCE) == counted(connection, SINCE, KIND)
    assert counted(connection, SINCE, MODEL) == counted(connection, SINCE, MODEL, KIND)
    assert counted(connection, SINCE).requests == RECORDS - 5 * BLOCK - 6


@pytest.mark.parametrize("terms", [(KIND,), (MODEL,), (SINCE, KIND), (SINCE, MODEL)])
def test_a_count_ended_by_the_deadline_is_incomplete_and_includes_the_newest(
    connection: apsw.Connection, terms: tuple[Term, ...]
) -> None:
    whole = counted(connection, *terms)
    parts = [counted(connection, *terms, deadline=CheckLimitedDeadline(checks)) for checks in range(60)]
    assert parts[0] == Count(complete=False)
    assert parts[-1] == whole
    assert sum(not part.complete for part in parts) >= 2
    for part in parts[1:]:
        assert part.last_at == whole.last_at
        assert 0 < part.requests <= whole.requests
        assert part.complete == (part == whole)
    assert [part.requests for part in parts] == sorted(part.requests for part in parts)


@pytest.mark.parametrize("terms", [(), (Term("namespace", ("production",)),)])
def test_stored_counters_are_returned_even_after_the_deadline(
    connection: apsw.Connection, terms: tuple[Term, ...]
) -> None:
    late = Deadline(clock.monotonic_ns() - 1)
    assert counted(connection, *terms, deadline=late) == counted(connection, *terms)


def test_an_interrupted_statement_adds_nothing_to_the_count(connection: apsw.Connection) -> None:
    deadline = Deadline(clock.monotonic_ns() - 1)
    deadline.watch(connection)
    assert counted(connection, KIND, deadline=deadline) == Count(complete=False)
    assert counted(connection, KIND).complete
