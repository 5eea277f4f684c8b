"""Aggregates: counts, tokens, costs and durations of many records, in total and over time. Pure."""
