"""Claims about the fold: every exchange comes out once, whole, wherever the reading was cut."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.frames import Script

from relaybook.journal.events import Answered, encode_event
from relaybook.journal.frame import Kind
from relaybook.recorder.fold import Fold, decode_exchange, encode_exchange

A, B, C = b"a" * 16, b"b" * 16, b"c" * 16


def three() -> Script:
    script = Script().open(A).open(B, namespace="ios").ask(A, b"re", b"quest").open(C)
    script.answer(A, b"one").ask(B, b"q").answer(A, b"two").close(A)
    return script.answer(B, b"x", b"y", b"z").close(B, "client_closed").ask(C, b"still")


def test_an_exchange_comes_out_whole_at_its_end() -> None:
    ended = Fold().feed(Script().open(A).ask(A, b"re", b"quest").answer(A, b"an", b"swer").close(A).frames)
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
def test_reading_in_pieces_changes_nothing(cuts: list[int]) -> None:
    frames = three().frames
    whole = [encode_exchange(each) for each in Fold().feed(frames)]
    fold, got, start = Fold(), [], 0
    for cut in [*sorted(cuts), len(frames)]:
        got += fold.feed(frames[start:cut])
        start = max(start, cut)
    assert [encode_exchange(each) for each in got] == whole


def test_what_is_open_when_the_run_is_over_was_interrupted() -> None:
    fold = Fold()
    fold.feed(three().frames)
    (cut,) = fold.end()
    assert cut.id == C
    assert cut.closed is not None
    assert cut.closed.outcome == "interrupted"
    assert cut.request.rest == [b"still"]
    assert fold.end() == []


@given(st.integers(0, 20))
def test_after_a_restart_nothing_comes_out_twice_and_nothing_is_missing(recorded: int) -> None:
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
def test_an_exchange_moved_aside_goes_on_where_it_was(moved_at: int) -> None:
    frames = three().frames
    before = Fold()
    ended = before.feed(frames[:moved_at])
    states = [encode_exchange(each) for each in before.open.values()]
    after = Fold(moved_at, [decode_exchange(state) for state in states])
    for frame_from in (moved_at, 0):  # also when frames are seen again that are in the state already
        again = Fold(moved_at, [decode_exchange(state) for state in states])
        got = ended + again.feed(frames[frame_from:])
        assert [b"".join(each.response.rest) for each in got] == [b"onetwo", b"xyz"]
    assert len(after.open) == len(states)


def test_the_first_frame_still_needed_is_known() -> None:
    fold = Fold()
    fold.feed(three().frames)
    assert fold.first_needed() == (1, 128 + 600, 6)
    fold.open[C].first = None
    assert fold.first_needed() is None


def test_bodies_that_came_with_their_heads_are_whole() -> None:
    script = Script().open(A, body=b"request", complete=True)
    script.add(Kind.ANSWERED, A, encode_event(Answered(200, b"OK", b"", False, b"answer"))).close(A)
    (exchange,) = Fold().feed(script.frames)
    assert (exchange.request.rest, exchange.response.rest) == ([b"request"], [b"answer"])
    assert (exchange.request_bytes, exchange.response_bytes, exchange.chunk_bytes) == (7, 6, [6])
    assert exchange.asked_ns == exchange.opened_ns
    assert (exchange.opened.body, exchange.answered and exchange.answered.body) == (b"", b"")


def test_bytes_of_our_own_are_part_of_the_answer_and_no_chunk() -> None:
    (exchange,) = Fold().feed(Script().open(A).ask(A).answer(A, b"{}", status=502, made=True).close(A).frames)
    assert (exchange.response.rest, exchange.chunks, exchange.chunk_at_us) == ([b"{}"], 0, [])


def test_frames_of_an_exchange_nobody_opened_are_passed_over() -> None:
    assert Fold().feed(Script().ask(A, b"x").close(A).frames) == []
