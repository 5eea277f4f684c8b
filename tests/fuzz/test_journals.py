"""Arbitrary damage of the journal: the reader raises only its own errors, and invents no frame."""

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
#: The secret that an attacker guesses. Not 0 or 1, because damage may write those into a header, which has no checksum.
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
    """Return a segment file of an ended run with these frames."""
    header = bytearray(HEADER_BYTES)
    header[:8] = b"RELAYBK\n"
    pack_into("<IIQ", header, 8, 1, _SECRET, 0)
    pack_into("<Q", header, _MARK_AT, HEADER_BYTES + len(frames))
    return bytes(header) + frames + bytes(200)


#: The bytes that an attacker who knows the format, but not the run's secret, puts into a body.
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
    """Return an ended run whose only segment has these bytes."""
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
    """Without this, the other test would pass if the reader returned nothing."""
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
