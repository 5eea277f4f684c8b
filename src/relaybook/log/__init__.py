"""Implement the request log: records, queries, aggregates, body formats and stores.

``record`` declares the record. ``query`` parses filters. ``aggregate`` computes statistics. ``namespaces`` defines
labels of namespaces. ``formats`` parses bodies. ``conversations`` links requests. ``search_text`` extracts the text to
index. ``store`` persists the log. This package does not depend on the relay, the journal or HTTP.
"""
