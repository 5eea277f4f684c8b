"""Represent the results of the parts, keep them as JSON, and show them as tables, charts and a page."""
