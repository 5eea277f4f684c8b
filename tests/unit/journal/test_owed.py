"""Claims about what is owed to the log after a batch was lost."""

from relaybook.ids import new_id
from relaybook.journal.events import Closed, decode_closed, encode_event
from relaybook.journal.frame import NO_EXCHANGE, Kind, encode
from relaybook.journal.owed import Owed

KNOWN, NEW = new_id(), new_id()


def batch(*frames: tuple[Kind, bytes, bytes]) -> list[bytes]:
    """Heads and payloads by turns, as a journal's batch has them."""
    heads = [encode(7, number, kind, exchange, 0, payload) for number, (kind, exchange, payload) in enumerate(frames)]
    return [part for head, frame in zip(heads, frames, strict=True) for part in (head, frame[2])]


def test_the_end_of_an_exchange_that_the_log_knows_is_owed_as_an_interruption() -> None:
    owed = Owed()
    lost = batch((Kind.RECEIVED, KNOWN, b"bytes"), (Kind.CLOSED, KNOWN, encode_event(Closed("complete"))))
    assert owed.add_lost(lost) == set()
    ((kind, exchange, payload),) = owed.take()
    assert (kind, exchange) == (Kind.CLOSED, KNOWN)
    closed = decode_closed(payload)
    assert (closed.outcome, closed.error_code) == ("interrupted", "log_unavailable")
    assert owed.take() == []


def test_an_exchange_that_began_in_the_batch_is_named_and_its_end_is_owed_for_a_part_may_be_written() -> None:
    owed = Owed()
    lost = batch((Kind.OPENED, NEW, b""), (Kind.CLOSED, NEW, encode_event(Closed("refused"))))
    assert owed.add_lost(lost) == {NEW}
    assert [frame[:2] for frame in owed.take()] == [(Kind.CLOSED, NEW)]


def test_what_was_counted_is_owed_as_it_was() -> None:
    owed = Owed()
    noted = (Kind.NOTED, NO_EXCHANGE, b"counts")
    assert owed.add_lost(batch(noted)) == set()
    assert owed.take() == [noted]
