"""The journal: append-only files that guarantee that no request is lost.

The relay writes the journal and the recorder reads it; they share nothing else. This package does not interpret
exchanges.

Layout
    Each relay worker writes one *run*, the directory ``<data>/journal/<run id>/`` (mode 0700). The directory is created
    as ``.new-<id>`` and renamed once its file ``lock`` is locked. A run has ended when its lock can be taken. It
    contains files ``<sequence, 16 digits>.segment`` (mode 0600). A segment is created at its full size before it is
    used; one spare segment is always prepared.

Segment header, 128 bytes, little-endian
    0 magic ``RELAYBK\\n`` · 8 format version (4) · 12 the run's secret (4) · 16 run id (16) · 32 sequence (8) ·
    64 the write mark (8): the offset up to which the file is written. Writer and readers map the mark into memory. The
    writer raises it after each ``write`` (with ``durability = power`` after each sync, so that the mark on the disk is
    never ahead of the data). A reader never reads beyond it while the writer runs.

Frame
    ========  =====  =====================================================================================
    field     bytes
    ========  =====  =====================================================================================
    length    4      number of bytes after the check
    check     4      CRC-32 of everything after it, seeded with the secret of the run
    number    8      frame number in the run, from 1
    kind      1      see ``FrameKind``
    exchange  16     id of the exchange
    time      8      monotonic nanoseconds, for durations
    payload   n      head frames: msgpack (``events``); body frames: the bytes as they were transferred
    ========  =====  =====================================================================================

One read from a socket makes at most one frame with body bytes. Body bytes that arrived in the same read as their head
are in the head's frame, so that most exchanges take three frames: OPENED, ANSWERED, CLOSED.

Promises
    1. Before a byte is sent, the operating system has its frame (with ``durability = power``, stable storage has it).
       The gate keeps the order; ``JournalWriter.write`` and ``sync`` write the frames.
    2. The frames of an exchange are in order: exactly one OPENED, at most one CLOSED.
    3. While the writer runs, a reader returns only complete frames. It continues with the next file after SEALED, or
       when the next file is in use, which happens after a failed write.
    4. After a crash at any time, a reader returns all frames up to some point, without a hole. They include every frame
       whose ``write`` had returned. It reads beyond the mark of an ended run as long as the checks match.
    5. Bytes from a client or upstream can never be read as a frame. After damage, a reader accepts a frame only if its
       seeded check matches and its number is at most ``skipped bytes / 41 + 1`` ahead. Repeated frames are dropped. A
       flipped byte loses only its own frame; lost frames are counted.
    6. A batch is kept until its write has succeeded. If the write fails, the batch is written again to the spare
       segment, with the same frame numbers. A descriptor that failed is never used again. If the second write fails as
       well, ``JournalUnavailable`` is raised and the gate sends nothing in the batch. Exchanges that ended in the batch
       are closed as interrupted once there is room again. SEALED is written only when the next segment exists, because
       nothing is read after it.
    7. Only the reader deletes segments, once everything in them is recorded or moved to the store.
"""
