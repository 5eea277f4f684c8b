"""Find logged requests that equal a request of a client.

The index holds hashes of the requests, not the requests. An entry takes about 0.6 kB.
"""

import hashlib
from array import array
from bisect import insort
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from typing import Final, Literal, NamedTuple

from relaybook.ids import id_text, parse_id
from relaybook.log.ask.replay import ReplayableRequest
from relaybook.log.request_key import decoded, digest, key_of
from relaybook.replay.source import ClientRequest

#: Why a logged request was chosen: equal bytes, an equal JSON value or form, or because ``--id`` chose it.
Rule = Literal["exact", "equal", "id"]
_MAX_CANDIDATES: Final = 5


class Match(NamedTuple):
    """A logged request, and why it was chosen. ``number`` and ``total`` are its place among equal logged requests."""

    id: str
    rule: Rule
    number: int = 1
    total: int = 1


class _Sequence:
    """Equal logged requests, in the order of their start. Each is replayed once, and the last again and again."""

    __slots__ = ("entries", "next")

    def __init__(self) -> None:
        self.entries: list[tuple[str, int]] = []
        self.next = 0

    def add(self, started_at: str, entry: int) -> None:
        insort(self.entries, (started_at, entry), lo=self.next)

    def take(self) -> tuple[int, int]:
        """Return the next entry, and its place from 1."""
        place = min(self.next, len(self.entries) - 1)
        self.next = place + 1
        return self.entries[place][1], place + 1


class Index:
    """The requests that can be replayed, by method, target and hashes of the body."""

    def __init__(self, ignored: Sequence[Sequence[str]] = ()) -> None:
        self._ignored = ignored
        self._ids: list[bytes] = []
        self._sequences: dict[bytes, _Sequence] = {}
        self._entries_by_path: dict[tuple[str, str], array[int]] = {}
        #: The sketches of all entries, one after the other, and where that of each entry ends.
        self._sketches = array("I")
        self._sketch_ends = array("Q")

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def paths(self) -> Counter[tuple[str, str]]:
        """The number of requests by method and path."""
        return Counter({path: len(entries) for path, entries in self._entries_by_path.items()})

    def add(self, request: ReplayableRequest) -> None:
        """Add a logged request."""
        entry = len(self._ids)
        identity = parse_id(request.id)
        assert identity is not None
        self._ids.append(identity)
        self._sketches.extend(request.key.sketch)
        self._sketch_ends.append(len(self._sketches))
        path = request.target.partition("?")[0]
        self._entries_by_path.setdefault((request.method, path), array("I")).append(entry)
        for rule, hash_ in (("exact", request.key.exact), ("equal", request.key.value)):
            if hash_ is not None:
                key = _key(request.method, request.target, rule, hash_)
                self._sequences.setdefault(key, _Sequence()).add(request.started_at, entry)

    def find(self, request: ClientRequest) -> Match | None:
        """Return the logged request to replay next for a request, or `None` if no logged request equals it.

        Equal bytes count first. If no logged request has the same bytes, one with an equal value is chosen.
        """
        body = decoded(request.body, request.content_encoding)
        own = key_of(body, self._ignored)
        tries: list[tuple[Rule, str | None]] = [("exact", own.exact), ("exact", digest(request.body))]
        for rule, hash_ in (*tries, ("equal", own.value)):
            sequence = self._sequences.get(_key(request.method, request.target, rule, hash_)) if hash_ else None
            if sequence is not None:
                entry, number = sequence.take()
                return Match(id_text(self._ids[entry]), rule, number, len(sequence.entries))
        return None

    def nearest(self, request: ClientRequest) -> list[str]:
        """Return the ids of the logged requests with the same method and path that are most similar, best first.

        Among equally similar requests, newer ones come first.
        """
        entries = self._entries_by_path.get((request.method, request.path), array("I"))
        own = set(key_of(decoded(request.body, request.content_encoding), self._ignored).sketch)
        ranked = nlargest(_MAX_CANDIDATES, entries, lambda entry: (len(own.intersection(self._sketch(entry))), entry))
        return [id_text(self._ids[entry]) for entry in ranked]

    def _sketch(self, entry: int) -> "array[int]":
        return self._sketches[self._sketch_ends[entry - 1] if entry else 0 : self._sketch_ends[entry]]


def _key(method: str, target: str, rule: str, hash_: str) -> bytes:
    text = f"{method} {target}\n{rule} {hash_}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
