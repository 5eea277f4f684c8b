"""Test how requests without a record are counted."""

from relaybook.journal.events import RefusalCounts
from relaybook.log.record import Gap
from relaybook.recorder.loop import add_refused, gaps_of


def test_refusals_are_added_by_code() -> None:
    refused = {"overloaded": 2}
    add_refused(refused, RefusalCounts(0, 1, {"overloaded": 3, "not_found": 1}))
    assert refused == {"overloaded": 5, "not_found": 1}


def test_only_unlogged_requests_make_a_gap() -> None:
    counts = RefusalCounts(5_000, 9_999, {"overloaded": 3, "log_unavailable": 2}, 7)
    assert gaps_of(counts) == [
        Gap(from_at=5, to_at=9, count=7, reason="forwarded_unlogged"),
        Gap(from_at=5, to_at=9, count=2, reason="log_unavailable"),
    ]
    assert gaps_of(RefusalCounts(0, 1, {"overloaded": 3})) == []


def test_a_gap_does_not_end_before_its_start_if_the_clock_was_set_back() -> None:
    (gap,) = gaps_of(RefusalCounts(9_000_000, 2_000_000, {"log_unavailable": 3}))
    assert (gap.from_at, gap.to_at) == (2_000, 9_000)
