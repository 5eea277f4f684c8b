"""Answer how much of a prompt was read from the provider's cache, and where it differs from the request before."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.log.ask import detail
from relaybook.log.ask.thread import LOOKBACK, page_of
from relaybook.log.conversations import Position, positions_of
from relaybook.log.formats.prompt import compare, prompt_of
from relaybook.log.prices import Prices
from relaybook.log.prompt_cache import CacheReport, Exchange, add_price, not_stored, report
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.record import Record, decode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader

#: Number of requests of the thread among which the request before is looked for first.
_NEAR: Final = 200
#: Number of earlier requests that are opened to find one whose prompt begins alike, and how many bytes are read.
_CANDIDATES: Final = 8
_CANDIDATE_BYTES: Final = 16 << 20
#: Two prompts begin alike if so many characters are equal.
_ALIKE_CHARACTERS: Final = 200
#: Requests to the same thread, from which bodies are kept in memory while a page of it is answered.
_KEPT_BYTES: Final = 32 << 20


class ThreadCache(Struct, kw_only=True):
    """The use of the provider's cache by each request of a page of a thread, in the order of recording."""

    data: list[CacheReport]
    complete: Annotated[bool, Meta(description="`false` if the oldest requests are missing because time ran out.")]


def cache(reader: Reader, any_id: str, prices: Prices, deadline_ns: int) -> CacheReport:
    """Return the report on the request with an id. Raises RequestNotFound."""
    view, _ = detail.view(reader, any_id)
    after = _exchange(view)
    if after is None:
        return not_stored(view.record)
    return _report(_before(reader, after, deadline_ns), after, prices)


def thread_cache(
    reader: Reader,
    filter_: Filter,
    limit: int,
    page_position: tuple[Cursor | None, str | None],
    prices: Prices,
    deadline_ns: int,
) -> ThreadCache:
    """Return the reports on a page of a thread. Requests that start a conversation are compared with nothing.

    The latest requests come first, so that they are there if time runs out.
    """
    page, links = page_of(reader, filter_, limit, page_position, deadline_ns)
    positions = positions_of(reversed(links))
    kept = _Kept(reader)
    found: list[CacheReport] = []
    for record in page.records:
        if clock.monotonic_ns() > deadline_ns:
            return ThreadCache(data=found[::-1], complete=False)
        after = kept.get(record.id)
        before = kept.earlier(positions, record.id, deadline_ns)
        found.append(not_stored(record) if after is None else _report(before, after, prices))
    return ThreadCache(data=found[::-1], complete=page.complete)


class _Kept:
    """Opens requests. The bodies that were opened last are kept, because each is compared twice."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._exchanges: dict[str, Exchange | None] = {}
        self._statuses: dict[str, bool] = {}
        self._bytes = 0

    def get(self, record_id: str) -> Exchange | None:
        """Return a request, or `None` if it cannot be read."""
        if record_id not in self._exchanges:
            view = RequestView.open(self._reader, record_id)
            found = None if view is None else _exchange(view)
            self._bytes += 0 if view is None else view.record.request_bytes
            if self._bytes > _KEPT_BYTES:
                self._exchanges.clear()
                self._bytes = 0
            self._exchanges[record_id] = found
        return self._exchanges[record_id]

    def earlier(self, positions: dict[str, Position], record_id: str, deadline_ns: int) -> Exchange | None:
        """Return the request that a request repeats or continues, except those that the provider rejected.

        Bodies of rejected requests are not read, because a client may have repeated a request thousands of times.
        """
        position = positions.get(record_id)
        while position is not None and clock.monotonic_ns() < deadline_ns:
            for earlier_id in (position.repeats, position.follows):
                if (
                    earlier_id is not None
                    and self._was_read(earlier_id)
                    and (before := self.get(earlier_id)) is not None
                ):
                    return before
            position = positions.get(position.repeats or position.follows or "")
        return None

    def _was_read(self, record_id: str) -> bool:
        if record_id not in self._statuses:
            view = RequestView.open(self._reader, record_id)
            self._statuses[record_id] = view is not None and _was_read(view.record)
        return self._statuses[record_id]


def _before(reader: Reader, after: Exchange, deadline_ns: int) -> Exchange | None:
    """Return the request to compare with: the one before in the conversation, or else one that begins alike."""
    record = after.record
    term = Term("namespace", (record.namespace,)) if record.session is None else Term("session", (record.session,))
    kept = _Kept(reader)
    found = kept.earlier(_positions(reader, record, Filter((term,)), deadline_ns), record.id, deadline_ns)
    if found is not None or after.prompt.is_partial or record.model is None:
        return found
    same = Filter((term, Term("model", (record.model,)), Term("route", (record.route,))))
    older = None if record.seq is None else Cursor("older", record.seq)
    left = _CANDIDATE_BYTES
    for earlier in reader.page(same, _CANDIDATES, older, deadline_ns).records:
        left -= earlier.request_bytes
        if left < 0 or clock.monotonic_ns() > deadline_ns:
            return None
        before = kept.get(earlier.id) if _was_read(earlier) and earlier.kind == record.kind else None
        if before is not None and compare(before.prompt, after.prompt).equal_characters >= _ALIKE_CHARACTERS:
            return before
    return None


def _positions(reader: Reader, record: Record, filter_: Filter, deadline_ns: int) -> dict[str, Position]:
    """Return the positions of a request and of requests before it in their conversations.

    The request before is usually one of the latest. Many requests are compared only if a request has responses to
    earlier requests, and none of the latest requests received them.
    """
    cursor = None if record.seq is None else Cursor("older", record.seq + 1)
    for limit in (_NEAR, LOOKBACK):
        links = reader.links(filter_, limit, cursor, deadline_ns)
        positions = positions_of(reversed(links))
        own = next((link.chain for link in links[:1] if link.id == record.id), None)
        chain = None if own is None else decode_chain(own)
        is_continuation = chain is not None and bool(chain.origins or chain.previous or chain.conversation)
        if len(links) < limit or not is_continuation or positions[record.id].follows is not None:
            break
    return positions


def _was_read(record: Record) -> bool:
    """Return whether the provider read the prompt. Without a response or after an error, it cached nothing."""
    return record.status is not None and record.status < 400


def _exchange(view: RequestView) -> Exchange | None:
    """Return a request to compare. `None` if its body is not stored, cannot be read or is no conversation."""
    try:
        request = view.request()
        response = view.response()
    except BodyDamaged:
        return None
    if request is None or not request.messages or request.is_text_list:
        return None
    usage, tier = ({}, None) if response is None else (response.usage or {}, response.tier)
    return Exchange(view.record, prompt_of(request, view.record.kind), usage, tier)


def _report(before: Exchange | None, after: Exchange, prices: Prices) -> CacheReport:
    found = report(before, after)
    if found.missed_tokens:
        add_price(found, prices.input_rates(after.record, after.usage, after.tier))
    return found
