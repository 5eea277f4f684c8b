"""Counting: at the deadline there is what was counted until then, and kept counters need no time."""

import apsw
import pytest
from tests.support.records import a_record, soon

from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.port import Count
from relaybook.log.store.sqlite import counters
from relaybook.log.store.sqlite.count import count
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import BLOCK, migrate
from relaybook.log.store.sqlite.search import Deadline

RECORDS = 20 * BLOCK
KIND, MODEL, SINCE = Term("kind", ("chat",)), Term("model", ("m",)), Term("from", (str(5 * BLOCK + 7),))


@pytest.fixture(scope="module")
def connection() -> apsw.Connection:
    """Records started at their numbers; every second has the model `m`, every fourth failed."""
    made = apsw.Connection(":memory:")
    migrate(made, "it")
    records = [a_record(started_at=seq, model="mn"[seq % 2], failed=seq % 4 == 0) for seq in range(1, RECORDS + 1)]
    made.executemany(INSERT, [row_of(record, record.started_at, b"") for record in records])
    made.executemany(counters.ADD_NAMESPACES, counters.namespace_sums(records))
    made.executemany(counters.ADD_VALUES, counters.value_sums(records))
    made.executemany(counters.ADD_SPANS, counters.spans(records, 1))
    made.execute("UPDATE totals SET value = ? WHERE name IN ('last_seq', 'records')", (RECORDS,))
    return made


class Looks(Deadline):
    """Passes after so many looks at the clock."""

    def __init__(self, left: int) -> None:
        super().__init__(0)
        self.left = left

    def has_passed(self) -> bool:
        self.left -= 1
        return self.left < 0


def counted(connection: apsw.Connection, *terms: Term, deadline: Deadline | None = None) -> Count:
    return count(connection, Filter(terms), deadline or Deadline(soon()))


def test_all_ways_of_counting_agree(connection: apsw.Connection) -> None:
    whole = Count(requests=RECORDS, failed=RECORDS // 4, last_at=RECORDS)
    assert counted(connection) == counted(connection, KIND) == whole
    assert counted(connection, Term("namespace", ("production",))) == whole
    assert counted(connection, MODEL) == counted(connection, KIND, MODEL)
    assert counted(connection, SINCE) == counted(connection, SINCE, KIND)
    assert counted(connection, SINCE, MODEL) == counted(connection, SINCE, MODEL, KIND)
    assert counted(connection, SINCE).requests == RECORDS - 5 * BLOCK - 6


@pytest.mark.parametrize("terms", [(KIND,), (MODEL,), (SINCE, KIND), (SINCE, MODEL)])
def test_a_count_that_the_deadline_ended_says_so_and_has_the_newest(
    connection: apsw.Connection, terms: tuple[Term, ...]
) -> None:
    whole = counted(connection, *terms)
    parts = [counted(connection, *terms, deadline=Looks(left)) for left in range(60)]
    assert parts[0] == Count(complete=False)
    assert parts[-1] == whole
    assert sum(not part.complete for part in parts) >= 2
    for part in parts[1:]:
        assert part.last_at == whole.last_at
        assert 0 < part.requests <= whole.requests
        assert part.complete == (part == whole)
    assert [part.requests for part in parts] == sorted(part.requests for part in parts)


@pytest.mark.parametrize("terms", [(), (Term("namespace", ("production",)),)])
def test_what_the_counters_know_needs_no_time(connection: apsw.Connection, terms: tuple[Term, ...]) -> None:
    late = Deadline(clock.monotonic_ns() - 1)
    assert counted(connection, *terms, deadline=late) == counted(connection, *terms)


def test_a_statement_that_is_stopped_half_way_counts_for_nothing(connection: apsw.Connection) -> None:
    deadline = Deadline(clock.monotonic_ns() - 1)
    deadline.watch(connection)
    assert counted(connection, KIND, deadline=deadline) == Count(complete=False)
    assert counted(connection, KIND).complete
