"""The request log: its records, queries, aggregates, body formats and stores.

``record`` declares the record. ``query`` parses filters. ``aggregate`` computes statistics. ``namespaces`` defines
labels and their order. ``formats`` parses bodies. ``conversations`` links requests. ``search_text`` extracts the text
to index. ``store`` persists the log. Nothing here depends on the relay, the journal or HTTP.
"""
