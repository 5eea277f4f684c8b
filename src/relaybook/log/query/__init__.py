"""Filters, and the parsers of query parameters and of the query language. Pure: no I/O."""
