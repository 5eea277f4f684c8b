"""Store the log in a ClickHouse database, through its HTTP interface.

::

    requests            a row per finished request: its record, headers, bodies, message chain and words, by ``seq``
    chunks              body bytes that were written before their request ended
    feedback            the feedback on requests, by request id and source
    requests_to_delete  the requests that deletions are removing
    state               everything else, by kind and key: positions of recorders, running requests, gaps, labels, ...

A commit inserts first the rows of ``requests``, in one block, and then one block of ``state``, which has the positions
in the journal. After a crash between the two, the recorder reads the same part of the journal again, and the writer
skips the requests that are already there. ``docs/decisions/0020`` has the reasons for the order of the tables and their
indexes.

Any number of recorders write to a database; ``recorders.py`` says how. SQL is used only inside this package.
"""
