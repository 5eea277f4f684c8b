"""Store the log on the local disk, in a SQLite database and in packs for bodies.

::

    <directory>/relaybook.sqlite          rows, counters, journal positions (and -wal, -shm while it is open)
    <directory>/text.sqlite               full-text index: filled asynchronously, can be rebuilt from the log
    <directory>/store.lock                lock file, held by the single writer
    <directory>/bodies/2026-11-21-01.pack append-only file of body frames (zstd); rows have frame locations

Directories have mode 0700, files 0600. A commit first writes the body frames of its requests to the pack. Then it
ends the transaction with the rows that refer to these frames. The length of each pack is part of the transaction. So
after a crash, all frames that rows refer to are present. When the next writer opens the store, it truncates each pack
to the length in the database.

SQL is used only inside this package. ``apsw`` bundles SQLite, so every host runs the same version.
"""
