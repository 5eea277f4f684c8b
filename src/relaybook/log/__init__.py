"""The request log: what a record is, how the log is queried, how bodies are read, and where it all is kept.

``record`` declares the record; ``query`` is what filters can say; ``aggregate`` adds records up; ``namespaces`` has
their labels and order; ``formats`` reads bodies; ``conversations`` links requests; ``store`` keeps it. Nothing here
knows the relay, the journal or HTTP.
"""
