"""Test the buckets of histograms."""

from relaybook.log.aggregate.histograms import Histogram


def test_a_duration_belongs_to_the_first_bucket_whose_bound_is_not_less() -> None:
    histogram = Histogram.with_bounds(0.1, 1.0)
    for seconds in (0.0, 0.1, 0.11, 1.0, 1.01, 500.0):
        histogram.add(seconds)
    assert histogram.counts == [2, 2, 2]
    assert histogram.buckets() == [("0.1", 2), ("1.0", 4), ("+Inf", 6)]
    assert round(histogram.total, 2) == 502.22
