"""The journal consists of append-only files and guarantees that no request is lost.

The relay writes the journal and the recorder reads it. The relay and the recorder share nothing else. This package
does not interpret exchanges.

Layout
    Each relay worker writes one *run*, the directory ``<data>/journal/<run id>/`` (mode 0700). The directory is created
    as ``.new-<id>`` and renamed once its file ``lock`` is locked. The segments of a run are the files
    ``<sequence, 16 digits>.segment`` (mode 0600). A segment is created at its full size before it is used. One spare
    segment is always prepared. The writer also locks the segments that it has open. A run has ended when its lock can
    be taken and no segment is locked. So if another program deletes only the file ``lock``, the run does not end.

Segment header, 128 bytes, little-endian
    0 magic ``RELAYBK\\n`` · 8 format version (4) · 12 the run's secret (4) · 16 run id (16) · 32 sequence (8) ·
    64 the write mark (8): the offset up to which the file is written. Writer and readers map the mark into memory. The
    writer raises the mark after each ``write``. With ``durability = power``, the writer raises the mark only after each
    sync, so that the mark on the disk is never ahead of the data. While the writer runs, a reader never reads beyond
    the mark.

Frame
    ========  =====  =====================================================================================
    field     bytes
    ========  =====  =====================================================================================
    length    4      number of bytes after the check
    check     4      CRC-32 of all bytes after this field, seeded with the secret of the run
    number    8      frame number in the run, from 1
    kind      1      see ``FrameKind``
    exchange  16     id of the exchange
    time      8      monotonic nanoseconds, for durations
    payload   n      msgpack (see ``events``), or body bytes as they were transferred
    ========  =====  =====================================================================================

One read from a socket becomes at most one frame with body bytes. If a read returns a head and body bytes, the frame
with the head also contains the body bytes. So an exchange takes three frames (OPENED, RESPONSE_BEGIN and CLOSED) if the
request and the response arrive in one read each.

Promises
    1. Before a byte is sent, the frame that contains the byte is written to the operating system. If
       ``durability`` is ``power``, the frame is also synced to stable storage. ``JournalWriter`` writes and syncs the
       frames. ``relay.gate`` sends the bytes afterwards.
    2. The frames of an exchange are in the order in which they were appended. An exchange has exactly one OPENED and at
       most one CLOSED.
    3. While the writer runs, a reader returns only complete frames. At SEALED, the frame that ends a segment, the
       reader continues with the next segment. If a write to a segment failed, the segment has no SEALED. In this case,
       the reader continues once the next segment is in use.
    4. After a crash, a reader returns every frame whose ``write`` had returned. The reader may also return later
       frames, but no frame before them is missing. In a run that has ended, the reader continues beyond the mark as
       long as the checksums are correct.
    5. Bytes from a client or upstream are never mistaken for a frame. After damage, a reader accepts a frame only if
       its checksum (seeded with the secret of the run) is correct and its number is plausible. A number is plausible
       if the missing frames fit into the skipped bytes: the shortest frame has 41 bytes, so the number exceeds the last
       number by at most ``skipped bytes / 41 + 1``. Repeated frames are dropped. If a byte is changed, only the frame
       with that byte is lost. Lost frames are counted.
    6. The writer keeps a batch of frames until the batch is written. If the write fails, the batch is written again to
       the spare segment, with the same frame numbers. A descriptor that failed is never used again. If the second write
       also fails, ``JournalUnavailable`` is raised. The gate then sends no bytes of the batch, except with
       ``when_log_fails = forward``. As soon as the next segment exists, the writer appends a CLOSED with the outcome
       ``interrupted`` for each CLOSED of the lost batch. A reader ignores frames after SEALED, so later frames need
       another segment. Therefore, SEALED is written only when the next segment exists.
    7. Only the reader deletes segments. A segment is deleted when every exchange in the segment has a record or a
       checkpoint (the saved state of an open exchange) in the store, or is in the quarantine.
"""
