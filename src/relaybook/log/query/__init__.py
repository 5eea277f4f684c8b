"""Queries: filters, and the query parameters and the query language that are parsed into them. Pure."""
