"""Claims about what is kept of a body, and where it waits."""

import hashlib
from typing import Any

from tests.support.frames import Script

from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Entry, Extent, body_size
from relaybook.recorder.body_policy import KEPT_OF_LARGE, MOST_HELD, MOST_SHOWN, MOST_SHOWN_BYTES, BodyPolicy, shown
from relaybook.recorder.fold import Exchange, Fold
from relaybook.recorder.prices import Prices
from relaybook.recorder.understand import Understanding

A = b"a" * 16
LIMIT = 100_000


class World:
    """A store and the rules over it."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.body_policy = BodyPolicy(self.store.set_aside, self.store.read_back, LIMIT)
        self.understanding = Understanding(Prices(), self.store.read_back)

    def keep(self, exchange: Exchange) -> tuple[Entry, list[Extent]]:
        return self.body_policy.apply(exchange, self.understanding.entry(exchange))


def ended(script: Script) -> Exchange:
    return Fold().feed(script.frames)[0]


def test_a_small_body_stays_in_memory_and_a_large_one_does_not() -> None:
    world, fold = World(), Fold()
    fold.feed(Script().open(A).ask(A, b"x" * MOST_HELD).frames)
    exchange = fold.open[A]
    world.body_policy.set_aside_if_large(exchange)
    assert exchange.request.extents == []
    fold.feed(Script().open(A).ask(A).ask(A).ask(A, b"y").frames)
    world.body_policy.set_aside_if_large(exchange)
    assert (exchange.held, exchange.request.rest) == (0, [])
    assert world.store.read_back(exchange.request.extents[0]) == b"x" * MOST_HELD + b"y"


def test_a_large_body_of_an_unknown_path_keeps_its_beginning_length_and_hash() -> None:
    body = bytes(range(256)) * 1000
    script = Script().open(A, target=b"/v1/files").ask(A, body[:99_000], body[99_000:]).answer(A, b"ok").close(A)
    entry, erase = World().keep(ended(script))
    assert entry.request is not None
    assert entry.request.rest == [body[:KEPT_OF_LARGE]]
    assert entry.detail.request_sha256 == hashlib.sha256(body).hexdigest()
    assert entry.record.request_bytes == len(body)
    assert body_size(entry.response) == 2
    assert erase == []


def test_the_beginning_of_a_large_body_is_a_beginning_also_when_it_was_set_aside_in_small_pieces() -> None:
    body = bytes(range(256)) * 1000
    world, fold = World(), Fold()
    fold.feed(Script().open(A, target=b"/v1/files").ask(A, body[:10_000]).frames)
    world.body_policy.set_aside(fold.open[A])
    exchange = fold.open[A]
    for start in range(10_000, len(body), 50_000):
        exchange.request.rest.append(body[start : start + 50_000])
        world.body_policy.set_aside(exchange)
    beginning, digest = world.body_policy._beginning(exchange.request)
    assert beginning.rest == [body[:KEPT_OF_LARGE]]
    assert digest == hashlib.sha256(body).hexdigest()


def test_a_large_body_of_an_understood_path_is_kept_whole() -> None:
    body = b"z" * (LIMIT + 1)
    entry, erase = World().keep(ended(Script().open(A).ask(A, body).answer(A, b"{}").close(A)))
    assert entry.request is not None
    assert (entry.request.rest, erase) == ([body], [])


def test_what_was_set_aside_of_a_request_without_bodies_is_to_be_erased() -> None:
    world = World()
    exchange = ended(Script().open(A, log="no-bodies").ask(A, b"secret words").answer(A, b"{}").close(A))
    world.body_policy.set_aside(exchange)
    entry, erase = world.keep(exchange)
    assert (entry.request, entry.response) == (None, None)
    assert len(erase) == 2


def opened(number: int, asked: bytes = b"question", **fields: Any) -> Exchange:
    """An open exchange; the number-th to start."""
    fold = Fold()
    fold.feed(Script().open(A, **fields).ask(A, asked).frames)
    exchange = fold.open[A]
    exchange.id, exchange.opened_ns = b"%016d" % number, number
    return exchange


def test_of_many_open_requests_the_latest_are_shown() -> None:
    many = [opened(number) for number in range(MOST_SHOWN + 10)]
    assert shown(many[::-1]) == {exchange.id for exchange in many[10:]}
    assert shown([]) == set()


def test_who_wants_no_bodies_or_is_too_large_is_not_shown_and_takes_nobodys_place() -> None:
    fits, large = opened(98, b"x" * MOST_SHOWN_BYTES), opened(99, b"x" * (MOST_SHOWN_BYTES + 1))
    hidden = [opened(100 + number, log="no-bodies") for number in range(MOST_SHOWN)]
    assert shown([opened(1), fits, large, *hidden]) == {opened(1).id, fits.id}


def test_bytes_that_were_set_aside_are_shown_with_the_others() -> None:
    world, exchange = World(), opened(1, b"question")
    world.body_policy.set_aside(exchange)
    exchange.request.rest.append(b" and more")
    assert shown([exchange]) == {exchange.id}
    assert world.understanding.running(exchange, is_shown=True).request == b"question and more"
