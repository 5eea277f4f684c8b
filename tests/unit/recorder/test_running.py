"""Test which running requests are reported, and how often their bodies are parsed."""

from pathlib import Path
from typing import Any

from tests.support.frames import Script
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.journal.frame import FrameKind
from relaybook.log.prices import Prices
from relaybook.log.store.port import Running
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.entry_builder import Bodies, EntryBuilder
from relaybook.recorder.fold import Fold, JournalExchange
from relaybook.recorder.running import MAX_SHOWN, MAX_SHOWN_BYTES, RunningRequests, shown_ids

A = b"a" * 16


def opened(number: int, request_body: bytes = b"question", **fields: Any) -> JournalExchange:
    """Return an open exchange. Exchanges with a higher ``number`` started later."""
    fold = Fold()
    fold.feed(Script().open(A, **fields).request(A, request_body).frames)
    exchange = fold.open[A]
    exchange.id, exchange.opened_ns = b"%016d" % number, number
    return exchange


def test_the_latest_of_many_open_requests_are_shown() -> None:
    many = [opened(number) for number in range(MAX_SHOWN + 10)]
    assert shown_ids(many[::-1]) == {exchange.id for exchange in many[10:]}
    assert shown_ids([]) == set()


def test_open_requests_without_bodies_or_too_large_are_not_shown_or_counted() -> None:
    fits, large = opened(98, b"x" * MAX_SHOWN_BYTES), opened(99, b"x" * (MAX_SHOWN_BYTES + 1))
    hidden = [opened(100 + number, log="no-bodies") for number in range(MAX_SHOWN)]
    assert shown_ids([opened(1), fits, large, *hidden]) == {opened(1).id, fits.id}


def test_moved_bytes_are_shown_with_the_others() -> None:
    store, exchange = MemoryStore(), opened(1, b"question")
    BodyPolicy(store.write_body, store.read_body, 0).move_to_store(exchange)
    exchange.request.rest.append(b" and more")
    assert shown_ids([exchange]) == {exchange.id}
    builder = EntryBuilder(Prices(), store.read_body)
    assert builder.running(exchange, builder.bodies(exchange), is_shown=True).request == b"question and more"


class CountingBuilder(EntryBuilder):
    """An entry builder that counts how often each exchange is parsed."""

    def __init__(self) -> None:
        super().__init__(Prices(), MemoryStore().read_body)
        self.parsed: list[bytes] = []

    def running(self, exchange: JournalExchange, bodies: Bodies | None, *, is_shown: bool = False) -> Running:
        self.parsed.append(exchange.id)
        return super().running(exchange, bodies, is_shown=is_shown)


def test_only_the_newest_requests_are_parsed_again_after_each_change(tmp_path: Path) -> None:
    fold, builder = Fold(), CountingBuilder()
    ids = [b"%016d" % number for number in range(MAX_SHOWN + 1)]
    scripts = {each: Script().open(each).add(FrameKind.SENT, each, b"{}") for each in ids}
    for number, each in enumerate(ids):
        fold.feed(scripts[each].frames)
        fold.open[each].opened_ns = number
    requests = RunningRequests(builder, CrashGuard(tmp_path))

    def report() -> dict[str, int]:
        builder.parsed.clear()
        states = requests.report(fold.open.values(), 2 * clock.NANOSECONDS)
        return {state.record.id.replace("-", ""): state.record.chunks for state in states or []}

    oldest, newest = ids[0], ids[-1]
    assert (len(report()), len(builder.parsed)) == (MAX_SHOWN + 1, MAX_SHOWN + 1)
    assert (len(report()), builder.parsed) == (MAX_SHOWN + 1, [])
    for each in ids:
        fold.feed(scripts[each].add(FrameKind.REQUEST_END, each).frames)
    assert (len(report()), len(builder.parsed)) == (MAX_SHOWN + 1, MAX_SHOWN + 1)
    for chunks, parsed in [(1, [oldest, newest]), (2, [newest]), (3, [newest])]:
        for each in (oldest, newest):
            if chunks == 1:
                scripts[each].respond(each)
            fold.feed(scripts[each].add(FrameKind.RECEIVED, each, b"text").frames)
        found = report()
        assert (builder.parsed, found[oldest.hex()], found[newest.hex()]) == (parsed, chunks, chunks)
    del fold.open[oldest]
    assert oldest.hex() not in report()


def test_the_end_of_all_running_requests_is_reported_once(tmp_path: Path) -> None:
    requests = RunningRequests(CountingBuilder(), CrashGuard(tmp_path))
    now = 2 * clock.NANOSECONDS
    assert [requests.report([], now), requests.report([], now)] == [[], None]  # an earlier recorder may have left some
    assert len(requests.report([opened(1)], now) or []) == 1
    assert [requests.report([], now), requests.report([], now)] == [[], None]


def test_the_beginning_of_a_large_response_is_not_read(tmp_path: Path) -> None:
    """It would be parsed only once, and take several times its size of memory."""
    chunk = b'data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
    requests = RunningRequests(CountingBuilder(), CrashGuard(tmp_path))
    for size, model in [(1, "m-1"), (MAX_SHOWN_BYTES, None)]:
        fold = Fold()
        script = Script().open(A).request(A, b'{"model":"m","messages":[]}')
        fold.feed(script.respond(A, chunk, b":" + b"a" * size, head=b"Content-Type: text/event-stream").frames)
        fold.open[A].id, fold.open[A].opened_ns = b"%016d" % size, 0
        (state,) = requests.report(fold.open.values(), 2 * clock.NANOSECONDS) or []
        record = state.record
        assert (record.model, record.response_model, record.error_code) == ("m", model, None)
        assert record.notes == []
