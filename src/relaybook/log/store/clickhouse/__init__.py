"""Store the log in a ClickHouse database, through its HTTP interface.

::

    requests            a row per finished request: its record, headers, bodies, message chain and words, by ``seq``
    chunks              body bytes that were written before their request ended
    feedback            the feedback on requests, by request id and source
    requests_to_delete  the requests that deletions are removing
    state               everything else, by kind and key: positions of recorders, running requests, gaps, labels, ...

A commit inserts the rows of ``requests`` in one block. The commit then inserts one block into ``state``, with the
positions in the journal. After a crash between the two inserts, the recorder reads the same part of the journal again.
The writer skips the requests that are already stored. ``docs/decisions/0020`` explains how the tables are sorted and
indexed.

Several recorders can write to one database (see ``recorders.py``). SQL is used only inside this package.
"""
