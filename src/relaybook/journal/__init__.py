"""The journal: append-only files that make the promise "no request is lost" true.

The relay writes, the recorder reads behind; they share nothing else. Nothing here knows what an exchange means.

Layout
    ``<data>/journal/<run id>/`` is one relay worker's *run* (mode 0700): made as ``.new-<id>``, its file ``lock``
    taken, then renamed. A run is over when its lock can be taken. In it ``<sequence, 16 digits>.segment`` (0600).
    A segment is created at its full size before it is used; one spare is always ready.

Segment header, 128 bytes, little-endian
    0 magic ``RELAYBK\\n`` · 8 format version (4) · 12 the run's secret (4) · 16 run id (16) · 32 sequence (8) ·
    64 the mark (8): how far the file is written. The mark is mapped by both sides; the writer raises it after each
    ``write`` returned (``power``: after each sync, so that on the disk it is never ahead of what it tells of), and a
    live reader never looks past it.

Frame
    ========  =====  =====================================================================================
    field     bytes
    ========  =====  =====================================================================================
    length    4      of everything after the check
    check     4      CRC-32 over everything after it, started from the run's secret
    number    8      this run's frame counter, from 1
    kind      1      see ``Kind``
    exchange  16     its id
    time      8      monotonic nanoseconds, for durations
    payload   n      head frames: msgpack (``events``); body frames: the bytes as they crossed
    ========  =====  =====================================================================================

One read from a socket makes at most one frame with body bytes. Bytes that came in the same read as their head are in
the head's frame, so that most exchanges are three frames: OPENED, ANSWERED, CLOSED.

Promises
    1. A frame's bytes are in the operating system before the wire byte it describes (on stable storage with
       ``durability = power``). The gate keeps the order; ``JournalWriter.write`` and ``sync`` keep their half.
    2. Frames of one exchange are in order: exactly one OPENED, at most one CLOSED.
    3. A live reader yields whole frames only. SEALED, or the end of the run, sends it on to the next file; so does a
       next file that is in use, which happens after a failed write.
    4. After a crash at any instant, reading a run yields a prefix of what was written, and everything whose ``write``
       returned. Past the mark of a dead run the reader goes on while checks hold.
    5. No bytes a caller or provider sends can be read as a frame: after damage a reader accepts only frames whose
       seeded check holds and whose number is at most ``skipped bytes / 41 + 1`` ahead. Repeats are dropped. A flipped
       byte costs its frame; what was lost is counted.
    6. A batch is kept until its write succeeded. On failure it is written again, same numbers, to the spare segment;
       a descriptor that failed is never used again. If that fails too, ``JournalUnavailable`` is raised and the gate
       releases nothing of it; exchanges that ended in it are closed as interrupted once there is room again. SEALED is
       written only when the next segment is there, for nothing is read behind it.
    7. Segments are unlinked by the reader only, once all they hold is recorded or moved.
"""
