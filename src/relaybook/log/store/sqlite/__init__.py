"""Store the log on the local disk: a SQLite database, and packs for bodies.

::

    <directory>/relaybook.sqlite          rows, counters, positions (and -wal, -shm while it is open)
    <directory>/text.sqlite               full-text index: filled asynchronously, can be rebuilt from the log
    <directory>/store.lock                lock file, held by the single writer
    <directory>/bodies/2026-11-21-01.pack append-only file of body frames (zstd); each row holds their location

Directories have mode 0700, files 0600. A commit guarantees that the body frames of its entries are in the pack before
the transaction that refers to them ends, and that each pack's length is part of the transaction. Therefore, after a
crash, all frames that rows refer to are present. Frames without a row are truncated when the next writer opens the
store.

SQL is used only inside this package. ``apsw`` bundles SQLite, so every host runs the same version.
"""
