"""Aggregate counts, tokens, cost and durations of records, in total and over time."""
