"""Answer questions about the log: pages of requests, details, counts, charts, threads and lists.

``Asker`` has one method for each question. The API and the command line parse what a client sends, ask, and print the
answer. Nothing else reads the log, except the recorder's passes.
"""
