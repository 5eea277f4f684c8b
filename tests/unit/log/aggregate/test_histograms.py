"""Claims about histograms."""

from relaybook.log.aggregate.histograms import Histogram


def test_a_duration_counts_below_the_first_bound_that_is_not_less() -> None:
    found = Histogram.over(0.1, 1.0)
    for seconds in (0.0, 0.1, 0.11, 1.0, 1.01, 500.0):
        found.add(seconds)
    assert found.counts == [2, 2, 2]
    assert found.buckets() == [("0.1", 2), ("1.0", 4), ("+Inf", 6)]
    assert round(found.total, 2) == 502.22
