"""Find records: plan which index serves a filter, and read pages, counts, lists and statistics."""
