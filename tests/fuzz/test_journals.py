"""Fuzz damaged journals: the reader raises only its own errors, and returns only frames that were written."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import pack_into
from typing import Final

from tests.fuzz.fuzzing import fuzz

from relaybook.journal.frame import Frame, FrameKind, encode
from relaybook.journal.reader import RunReader
from relaybook.journal.segment import HEADER_BYTES, JournalTooNew, OldSegment, segment_path

_SECRET: Final = 0x5EC2E7
#: Wrong secrets that an attacker guesses. The header of a segment has no checksum, so damage can change the secret to
#: 0 or 1. The attacker therefore guesses neither 0 nor 1.
_GUESSED: Final = (0x6E55ED, 0xBAD5EED)
_FORGED: Final = b"forged"
_MARK_AT: Final = 64
_MAX_READS: Final = 10_000


def _frames(*payloads: bytes) -> bytes:
    return b"".join(
        encode(_SECRET, number, FrameKind.SENT, bytes([number]) * 16, number, payload) + payload
        for number, payload in enumerate(payloads, 1)
    )


def _segment(frames: bytes) -> bytes:
    """Return the bytes of a complete segment file with these frames."""
    header = bytearray(HEADER_BYTES)
    header[:8] = b"RELAYBK\n"
    pack_into("<IIQ", header, 8, 1, _SECRET, 0)
    pack_into("<Q", header, _MARK_AT, HEADER_BYTES + len(frames))
    return bytes(header) + frames + bytes(200)


#: Forged frames in a body. The attacker knows the format of frames, but not the secret of the run.
_FORGERY: Final = b"".join(
    encode(secret, number, FrameKind.CLOSED, bytes(16), 1, _FORGED) + _FORGED
    for secret in _GUESSED
    for number in range(1, 12)
)
PAYLOADS: Final = [b"", b"one", _FORGERY, b"\0" * 300, b"four" * 40, _FORGERY + b"x", b"seven"]
SEEDS: Final = [_segment(_frames(*PAYLOADS)), _segment(_frames(*PAYLOADS[:2])), _segment(b"")]
WORDS: Final = [b"\0", b"\xff" * 8, b"RELAYBK\n", _FORGERY, _frames(*PAYLOADS[:3]), _frames(*PAYLOADS)]


@contextmanager
def _run(data: bytes) -> Iterator[Path]:
    """Yield an ended run with a single segment that has these bytes."""
    with tempfile.TemporaryDirectory() as place:
        run = Path(place)
        segment_path(run, 1).write_bytes(data)
        (run / "lock").touch()
        yield run


def _read(run: Path) -> list[Frame]:
    """Return all frames of a run."""
    reader = RunReader(run)
    found: list[Frame] = []
    try:
        for _ in range(_MAX_READS):
            frames = reader.read()
            found += frames
            if not frames and reader.finished:
                return found
        raise AssertionError("the run has no end")
    finally:
        reader.unread()
        reader.close()


def test_an_intact_journal_is_read_completely() -> None:
    """Without this test, the fuzz test would also pass if the reader returned nothing."""
    with _run(SEEDS[0]) as run:
        assert [frame.payload for frame in _read(run)] == PAYLOADS
        segment = OldSegment(run, 1)
        assert (segment.secret, segment.mark) == (_SECRET, HEADER_BYTES + len(_frames(*PAYLOADS)))
        segment.close()


def invents_nothing(data: bytes, _: random.Random) -> None:
    with _run(data) as run:
        try:
            frames = _read(run)
        except JournalTooNew:
            return
    assert [frame.number for frame in frames] == sorted({frame.number for frame in frames})
    for frame in frames:
        assert frame.payload != _FORGED, "bytes of a caller were read as a frame"
        assert frame.payload == PAYLOADS[frame.number - 1]
        assert (frame.kind, frame.exchange) == (FrameKind.SENT, bytes([frame.number]) * 16)


def test_no_damage_makes_the_reader_fail_or_invent_a_frame() -> None:
    fuzz(invents_nothing, SEEDS, WORDS, 4_000)
