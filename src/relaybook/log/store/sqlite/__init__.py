"""The store on this machine's disk: one SQLite database and, beside it, packs that hold the bodies.

::

    <directory>/relaybook.sqlite          rows, counters, positions (and -wal, -shm while it is open)
    <directory>/text.sqlite               which words stand in which record: filled behind, made anew from the log
    <directory>/store.lock                held by the one writer
    <directory>/bodies/2026-11-21-01.pack zstd frames, appended to; a row knows where its own lie

Directories are made 0700, files 0600. What a commit promises: the frames of its entries are in the pack before the
transaction that refers to them ends, and each pack's length is part of that transaction. So after a crash whatever a
row refers to is there, and whatever no row refers to is cut off when the next writer opens.

Nothing outside this package knows SQL; ``apsw`` brings its own SQLite, so that every host runs the same one.
"""

from relaybook.log.store.sqlite.labels import SqliteLabels
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.writer import SqliteWriter

__all__ = ["SqliteLabels", "SqliteReader", "SqliteTextIndex", "SqliteWriter"]
