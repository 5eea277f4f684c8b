"""Test that only written frames can be read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from relaybook.journal.frame import HEAD_BYTES, Frame, FrameKind, Span, decode, encode, find_next

SECRET = 0xC0FFEE
EXCHANGE = bytes(range(16))

payloads = st.lists(st.binary(max_size=200), min_size=1, max_size=8)


def written(bodies: list[bytes], secret: int = SECRET) -> bytes:
    return b"".join(
        encode(secret, number, FrameKind.SENT, EXCHANGE, number * 7, body) + body
        for number, body in enumerate(bodies, 1)
    )


def read(data: bytes, secret: int = SECRET) -> tuple[list[Frame], Span]:
    span = Span(0)
    return list(decode(data, secret, 3, 128, span)), span


@given(payloads)
def test_written_frames_are_read(bodies: list[bytes]) -> None:
    frames, span = read(written(bodies))
    assert [frame.payload for frame in frames] == bodies
    assert [frame.number for frame in frames] == list(range(1, len(bodies) + 1))
    assert span.end == len(written(bodies))
    assert frames[0].offset == 128
    assert frames[0].segment == 3


@given(payloads, st.data())
def test_a_truncated_tail_loses_only_the_incomplete_frame(bodies: list[bytes], data: st.DataObject) -> None:
    whole = written(bodies)
    cut = data.draw(st.integers(0, len(whole) - 1))
    frames, span = read(whole[:cut])
    assert [frame.payload for frame in frames] == bodies[: len(frames)]
    assert len(frames) < len(bodies)
    assert span.end <= cut


@given(payloads, st.data())
@settings(max_examples=300)
def test_a_flipped_bit_is_never_read_as_something_else(bodies: list[bytes], data: st.DataObject) -> None:
    whole = bytearray(written(bodies))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= 1 << data.draw(st.integers(0, 7))
    frames, _ = read(bytes(whole))
    assert [frame.payload for frame in frames] == bodies[: len(frames)]
    assert len(frames) < len(bodies)


def test_frames_of_another_run_are_rejected() -> None:
    frames, span = read(written([b"x"], secret=SECRET + 1))
    assert (frames, span.end) == ([], 0)


def test_the_next_frame_after_damage_is_found() -> None:
    bodies = [b"one", b"two", b"three"]
    whole = bytearray(written(bodies))
    whole[5] ^= 1
    assert find_next(bytes(whole), 1, SECRET, 0, 0) == HEAD_BYTES + 3


def test_after_little_damage_a_frame_number_far_ahead_is_not_accepted() -> None:
    forged = encode(SECRET, 1000, FrameKind.SENT, EXCHANGE, 0, b"forged") + b"forged"
    assert find_next(b"\xff" + forged, 1, SECRET, 1, 0) is None
    assert find_next(b"\xff" + forged, 1, SECRET, 1, 1000 * HEAD_BYTES) == 1


@given(st.binary(max_size=300))
def test_bytes_of_a_client_cannot_be_read_as_a_frame(body: bytes) -> None:
    inner = encode(0, 2, FrameKind.CLOSED, EXCHANGE, 0, body) + body
    whole = bytearray(written([inner, b"after"]))
    whole[0] ^= 0x40
    at = find_next(bytes(whole), 1, SECRET, 0, 0)
    assert at == HEAD_BYTES + len(inner)
