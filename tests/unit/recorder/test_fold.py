"""Test that the fold returns every exchange once and whole, however the frames are batched."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.frames import Script

from relaybook.journal.events import ResponseBegin, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.recorder.fold import Fold, decode_exchange, encode_exchange

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def three() -> Script:
    script = Script().open(A).open(B, namespace="ios").request(A, b"re", b"quest").open(C)
    script.respond(A, b"one").request(B, b"q").respond(A, b"two").close(A)
    return script.respond(B, b"x", b"y", b"z").close(B, "client_closed").request(C, b"still")


def test_a_complete_exchange_is_returned_when_it_ends() -> None:
    ended = Fold().feed(Script().open(A).request(A, b"re", b"quest").respond(A, b"an", b"swer").close(A).frames)
    (exchange,) = ended
    assert (exchange.request.rest, exchange.response.rest) == ([b"re", b"quest"], [b"an", b"swer"])
    assert (exchange.request_bytes, exchange.response_bytes, exchange.chunks) == (7, 6, 2)
    assert exchange.chunk_at_us == [5000, 6000]
    assert exchange.closed is not None
    assert exchange.closed.outcome == "complete"
    assert exchange.last_ns - exchange.opened_ns == 7_000_000


def test_interleaved_exchanges_do_not_mix() -> None:
    fold = Fold()
    first, second = fold.feed(three().frames)
    assert (first.id, b"".join(first.response.rest)) == (A, b"onetwo")
    assert (second.id, b"".join(second.response.rest)) == (B, b"xyz")
    assert list(fold.open) == [C]


@given(st.lists(st.integers(0, 30), max_size=6))
def test_reading_in_batches_changes_nothing(cuts: list[int]) -> None:
    frames = three().frames
    whole = [encode_exchange(each) for each in Fold().feed(frames)]
    fold, got, start = Fold(), [], 0
    for cut in [*sorted(cuts), len(frames)]:
        got += fold.feed(frames[start:cut])
        start = max(start, cut)
    assert [encode_exchange(each) for each in got] == whole


def test_exchanges_open_at_the_end_of_the_run_are_interrupted() -> None:
    fold = Fold()
    fold.feed(three().frames)
    (cut,) = fold.end()
    assert cut.id == C
    assert cut.closed is not None
    assert cut.closed.outcome == "interrupted"
    assert cut.request.rest == [b"still"]
    assert fold.end() == []


@given(st.integers(0, 20))
def test_after_a_restart_no_exchange_is_repeated_or_missing(recorded: int) -> None:
    frames = three().frames
    before = Fold()
    first = before.feed(frames[:recorded])
    needed = before.first_needed()
    replay_from = needed[2] if needed else recorded + 1
    after = Fold(recorded_to=recorded)
    second = after.feed(frames[replay_from - 1 :])
    assert [each.id for each in first + second] == [A, B]
    assert b"".join(second[-1].response.rest if second else first[-1].response.rest) == b"xyz"


@given(st.integers(1, 18))
def test_a_moved_exchange_continues_where_it_was(moved_at: int) -> None:
    frames = three().frames
    before = Fold()
    ended = before.feed(frames[:moved_at])
    states = [encode_exchange(each) for each in before.open.values()]
    after = Fold(moved_at, [decode_exchange(state) for state in states])
    for frame_from in (moved_at, 0):  # from 0, frames that the state already includes are read again
        again = Fold(moved_at, [decode_exchange(state) for state in states])
        got = ended + again.feed(frames[frame_from:])
        assert [b"".join(each.response.rest) for each in got] == [b"onetwo", b"xyz"]
    assert len(after.open) == len(states)


def test_the_first_needed_frame_is_that_of_the_oldest_open_exchange() -> None:
    fold = Fold()
    fold.feed(three().frames)
    assert fold.first_needed() == (1, 128 + 600, 6)
    fold.open[C].first = None
    assert fold.first_needed() is None


def test_bodies_in_head_frames_are_complete() -> None:
    script = Script().open(A, body=b"request", complete=True)
    script.add(FrameKind.RESPONSE_BEGIN, A, encode_event(ResponseBegin(200, b"OK", b"", False, b"answer"))).close(A)
    (exchange,) = Fold().feed(script.frames)
    assert (exchange.request.rest, exchange.response.rest) == ([b"request"], [b"answer"])
    assert (exchange.request_bytes, exchange.response_bytes, exchange.chunk_bytes) == (7, 6, [6])
    assert exchange.request_end_ns == exchange.opened_ns
    assert (exchange.opened.body, exchange.response_begin and exchange.response_begin.body) == (b"", b"")


def test_bytes_sent_by_the_relay_are_part_of_the_response_but_not_a_chunk() -> None:
    (exchange,) = Fold().feed(Script().open(A).request(A).respond(A, b"{}", status=502, made=True).close(A).frames)
    assert (exchange.response.rest, exchange.chunks, exchange.chunk_at_us) == ([b"{}"], 0, [])


def test_frames_of_an_exchange_that_was_not_opened_are_ignored() -> None:
    assert Fold().feed(Script().request(A, b"x").close(A).frames) == []
