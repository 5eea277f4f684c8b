"""Test how much of a body is stored, and where a body is kept before it is stored."""

import hashlib

from tests.support.frames import Script
from tests.support.memory_store import MemoryStore

from relaybook.log.prices import Prices
from relaybook.log.record import Detail, Record
from relaybook.log.store.entry import Body, BodyRef, Entry, body_size
from relaybook.recorder.body_policy import (
    MAX_HELD_BYTES,
    MAX_TOTAL_HELD_BYTES,
    TRUNCATED_BYTES,
    BodyPolicy,
)
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold, JournalExchange

A = b"a" * 16
LIMIT = 100_000


class World:
    """A store, and a body policy and an entry builder that use the store."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.body_policy = BodyPolicy(self.store.write_body, self.store.read_body, LIMIT)
        self.entry_builder = EntryBuilder(Prices(), self.store.read_body)

    def keep(self, exchange: JournalExchange) -> tuple[Entry, list[BodyRef]]:
        return self.body_policy.apply(exchange, self.entry_builder.entry(exchange, self.entry_builder.bodies(exchange)))


def ended(script: Script) -> JournalExchange:
    return Fold().feed(script.frames)[0]


def test_a_small_body_stays_in_memory_and_a_large_one_is_moved() -> None:
    world, fold = World(), Fold()
    fold.feed(Script().open(A).request(A, b"x" * MAX_HELD_BYTES).frames)
    exchange = fold.open[A]
    world.body_policy.move_large([exchange])
    assert exchange.request.refs == []
    fold.feed(Script().open(A).request(A).request(A).request(A, b"y").frames)
    world.body_policy.move_large([exchange])
    assert (exchange.held, exchange.request.rest) == (0, [])
    assert world.store.read_body(exchange.request.refs[0]) == b"x" * MAX_HELD_BYTES + b"y"


def test_bytes_that_were_moved_to_the_store_can_be_read_back() -> None:
    world, fold = World(), Fold()
    fold.feed(Script().open(A).request(A, b"x" * (MAX_HELD_BYTES + 1)).frames)
    exchange = fold.open[A]
    world.body_policy.move_large([exchange])
    exchange.request.rest = [b"y"]
    entry = Entry(record=Record(id="", started_at=0), detail=Detail(), request=exchange.request, response=None)
    world.body_policy.read_back(entry)
    assert entry.request == Body([], [b"x" * (MAX_HELD_BYTES + 1), b"y"])


def test_a_large_body_of_an_unsupported_format_is_stored_as_its_first_bytes_length_and_hash() -> None:
    body = bytes(range(256)) * 1000
    script = Script().open(A, target=b"/v1/files").request(A, body[:99_000], body[99_000:]).respond(A, b"ok").close(A)
    entry, erase = World().keep(ended(script))
    assert entry.request is not None
    assert entry.request.rest == [body[:TRUNCATED_BYTES]]
    assert entry.detail.request_sha256 == hashlib.sha256(body).hexdigest()
    assert entry.record.request_bytes == len(body)
    assert body_size(entry.response) == 2
    assert erase == []


def test_the_first_bytes_of_a_large_body_are_right_if_it_was_moved_in_small_chunks() -> None:
    body = bytes(range(256)) * 1000
    world, fold = World(), Fold()
    fold.feed(Script().open(A, target=b"/v1/files").request(A, body[:10_000]).frames)
    world.body_policy.move_to_store(fold.open[A])
    exchange = fold.open[A]
    for start in range(10_000, len(body), 50_000):
        exchange.request.rest.append(body[start : start + 50_000])
        world.body_policy.move_to_store(exchange)
    truncated, digest = world.body_policy._truncate(exchange.request)
    assert truncated.rest == [body[:TRUNCATED_BYTES]]
    assert digest == hashlib.sha256(body).hexdigest()


def test_a_large_body_of_a_supported_format_is_stored_whole() -> None:
    body = b"z" * (LIMIT + 1)
    entry, erase = World().keep(ended(Script().open(A).request(A, body).respond(A, b"{}").close(A)))
    assert entry.request is not None
    assert (entry.request.rest, erase) == ([body], [])


def test_moved_bytes_of_a_request_without_bodies_are_erased() -> None:
    world = World()
    exchange = ended(Script().open(A, log="no-bodies").request(A, b"secret words").respond(A, b"{}").close(A))
    world.body_policy.move_to_store(exchange)
    entry, erase = world.keep(exchange)
    assert (entry.request, entry.response) == (None, None)
    assert len(erase) == 2


def test_the_largest_bodies_are_moved_if_all_together_are_too_large() -> None:
    world, fold = World(), Fold()
    for number in range(300):
        fold.feed(Script().open(b"%016d" % number).request(b"%016d" % number, b"x" * (200_000 + number)).frames)
    moved = world.body_policy.move_large(fold.open.values())
    held = [exchange.held for exchange in fold.open.values()]
    assert (sum(held), moved) == (60_044_850, 0)
    for number in range(300, 340):
        fold.feed(Script().open(b"%016d" % number).request(b"%016d" % number, b"x" * (200_000 + number)).frames)
    moved = world.body_policy.move_large(fold.open.values())
    held = [exchange.held for exchange in fold.open.values()]
    assert MAX_TOTAL_HELD_BYTES // 2 - 201_000 < sum(held) <= MAX_TOTAL_HELD_BYTES // 2
    assert max(held) < min(exchange.request_bytes for exchange in fold.open.values() if exchange.refs)
    assert moved + sum(held) == sum(exchange.request_bytes for exchange in fold.open.values())
