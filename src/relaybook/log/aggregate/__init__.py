"""Aggregate records: counts, tokens, cost and durations, in total and over time. Pure: no I/O."""
