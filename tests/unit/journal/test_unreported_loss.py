"""Test which frames are appended to the journal after a batch was lost."""

from relaybook.ids import new_id
from relaybook.journal.events import Closed, decode_closed, encode_event
from relaybook.journal.frame import NO_EXCHANGE, FrameKind, encode
from relaybook.journal.unreported_loss import UnreportedLoss

KNOWN, NEW = new_id(), new_id()


def batch(*frames: tuple[FrameKind, bytes, bytes]) -> list[bytes]:
    """Return the heads and payloads of the frames in turn, as in a journal batch."""
    heads = [encode(7, number, kind, exchange, 0, payload) for number, (kind, exchange, payload) in enumerate(frames)]
    return [part for head, frame in zip(heads, frames, strict=True) for part in (head, frame[2])]


def test_the_lost_end_of_a_logged_exchange_becomes_an_interruption() -> None:
    loss = UnreportedLoss()
    lost = batch((FrameKind.RECEIVED, KNOWN, b"bytes"), (FrameKind.CLOSED, KNOWN, encode_event(Closed("complete"))))
    assert loss.add_lost(lost) == set()
    ((kind, exchange, payload),) = loss.take()
    assert (kind, exchange) == (FrameKind.CLOSED, KNOWN)
    closed = decode_closed(payload)
    assert (closed.outcome, closed.error_code) == ("interrupted", "log_incomplete")
    assert loss.take() == []


def test_an_exchange_opened_in_the_lost_batch_is_returned_and_its_end_is_kept() -> None:
    loss = UnreportedLoss()
    lost = batch((FrameKind.OPENED, NEW, b""), (FrameKind.CLOSED, NEW, encode_event(Closed("refused"))))
    assert loss.add_lost(lost) == {NEW}
    assert [frame[:2] for frame in loss.take()] == [(FrameKind.CLOSED, NEW)]


def test_lost_refusal_counts_are_kept_unchanged() -> None:
    loss = UnreportedLoss()
    noted = (FrameKind.COUNTED, NO_EXCHANGE, b"counts")
    assert loss.add_lost(batch(noted)) == set()
    assert loss.take() == [noted]
