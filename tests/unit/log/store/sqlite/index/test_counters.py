"""Test how much a batch of records adds to the counters."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.records import a_record

from relaybook.log.record import Note
from relaybook.log.store.sqlite.index.counters import block_ranges, namespace_counters, value_counters
from relaybook.log.store.sqlite.schema import BLOCK, BLOCK_EXTREMES


def test_namespace_counters_are_summed_and_sorted() -> None:
    records = [
        a_record(namespace="b", started_at=5, cost_usd=0.5, failed=True, input_tokens=None, output_tokens=1),
        a_record(namespace="a", started_at=7, cost_usd=None, input_tokens=2, output_tokens=3),
        a_record(namespace="b", started_at=3, cost_usd=0.25, input_tokens=4, output_tokens=None),
    ]
    assert namespace_counters(records) == [("a", 1, 0, 2, 3, 0.0, 0, 7, 7), ("b", 2, 1, 4, 1, 0.75, 2, 3, 5)]


def test_values_are_counted_once_per_record() -> None:
    codes = [Note("value_cut", "one"), Note("value_cut", "two")]
    records = [
        a_record(key=None, finish_reason=None, model="m", user="u", properties={"p": "x"}, warnings=codes, notes=codes),
        a_record(key=None, finish_reason=None, model=None, failed=True, status=None, properties={"p": "y"}),
    ]
    assert value_counters(records) == [
        ("failed", "true", 1),
        ("kind", "chat", 2),
        ("model", "m", 1),
        ("note", "value_cut", 1),
        ("outcome", "complete", 2),
        ("property", "p", 2),
        ("property.p", "x", 1),
        ("property.p", "y", 1),
        ("route", "default", 2),
        ("status", "200", 1),
        ("user", "u", 1),
        ("warning", "value_cut", 1),
    ]


@given(st.integers(1, 3 * BLOCK), st.integers(1, 2 * BLOCK + 5))
def test_block_ranges_cover_every_record_in_its_block(first: int, count: int) -> None:
    shared = a_record(started_at=50, cost_usd=0.5, first_token_ms=None)
    records = [shared] * count
    records[-1] = a_record(started_at=90, failed=True, cost_usd=None, first_token_ms=7.0)
    found = block_ranges(records, first)
    assert [block for block, *_ in found] == list(range(first // BLOCK, (first + count - 1) // BLOCK + 1))
    assert found[-1][2] == 90
    assert {low for _, low, *_ in found} <= {50, 90}
    assert sum(block[3] for block in found) == count
    assert [block[4] for block in found] == [0] * (len(found) - 1) + [1]
    assert [block[5] for block in found] == [block[1] for block in found]
    only_the_last = (first + count - 1) % BLOCK == 0 or count == 1
    assert [block[6] for block in found] == [0.5] * (len(found) - 1) + [None if only_the_last else 0.5]
    first_token = 6 + list(BLOCK_EXTREMES).index("first_token_ms") * 2
    for extreme in (first_token, first_token + 1):
        assert [block[extreme] for block in found] == [None] * (len(found) - 1) + [7.0]
