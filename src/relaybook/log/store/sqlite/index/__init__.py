"""Keep what is derived from records: counters, aggregates over time, foreign ids, block ranges and the text index."""
