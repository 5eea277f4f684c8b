"""Define filters, and parse query parameters and the query language."""
