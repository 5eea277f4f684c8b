"""Find the attempts of a request: an SDK sends a request again if it fails or takes too long."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from relaybook.apis import BY_KIND
from relaybook.clock import format_timestamp
from relaybook.log.ask.fields import TimestampText
from relaybook.log.conversations import REPEATS_WITHIN_US, Position, positions_of
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.record import Record
from relaybook.log.row import Result, result_of
from relaybook.log.store.port import Link, Reader

#: Number of requests around a request that are searched for its other attempts.
_SEARCHED: Final = 400
#: At most this many attempts are listed.
_MAX_ATTEMPTS: Final = 20
#: A request that is sent again later was sent again by a person, or for another reason.
_RETRIES_WITHIN_US: Final = 60_000_000


class Attempt(Struct, kw_only=True):
    """One attempt of a request. `id` is the Relaybook id."""

    id: str
    started_at: TimestampText
    result: Result


class Retries:
    """Tells which repeats are retries.

    A repeat is a retry if the SDK says so, or if the request before failed, had the same model, and started at most a
    minute before.
    """

    def __init__(self, positions: dict[str, Position], links: Iterable[Link]) -> None:
        self._positions = positions
        self._failed = {(link.id, link.model): link.started_at for link in links if link.failed}

    def is_retry(self, record: Record) -> bool:
        """Return whether the request is a retry of the request that it repeats."""
        return self.before(record) is not None

    def before(self, record: Record) -> str | None:
        """Return the id of the attempt before this one. `None` if the request is a first attempt."""
        position = self._positions.get(record.id)
        repeats = None if position is None else position.repeats
        if repeats is None:
            return None
        failed_at = self._failed.get((repeats, record.model))
        is_soon = failed_at is not None and record.started_at - failed_at <= _RETRIES_WITHIN_US
        return repeats if record.retry_count or is_soon else None


def attempts(reader: Reader, record: Record, deadline_ns: int) -> list[Attempt]:
    """Return all attempts of a request, first attempt first. Empty if there is only one.

    Other attempts are searched only if the request failed, was aborted by the client, or is a retry according to the
    SDK.
    """
    may_have_others = record.failed or record.retry_count or record.outcome == "client_closed"
    if not may_have_others or record.seq is None or not BY_KIND[record.kind].is_conversation:
        return []
    page = reader.around(record.id, _similar(record), _SEARCHED, deadline_ns)
    if page is None or not page.records:
        return []
    newest = page.records[0].seq or 0
    links = reader.links(_similar(record), len(page.records), Cursor("older", newest + 1), deadline_ns)
    retries = Retries(positions_of(reversed(links)), links)
    by_id = {each.id: each for each in page.records}
    # Each request is in the group of the attempt before it.
    groups: dict[str, list[Record]] = {}
    for each in reversed(page.records):
        group = groups.get(retries.before(each) or "", [])
        group.append(by_id[each.id])
        groups[each.id] = group
    group = groups.get(record.id, [])
    return [_attempt(each) for each in group[:_MAX_ATTEMPTS]] if len(group) > 1 else []


def _similar(record: Record) -> Filter:
    """Return a filter for the requests that can be other attempts of a request."""
    same = {"namespace": record.namespace, "session": record.session, "model": record.model, "key": record.key}
    terms = [Term(name, (value,)) for name, value in same.items() if value is not None]
    times = {"from": record.started_at - REPEATS_WITHIN_US, "to": record.started_at + REPEATS_WITHIN_US}
    return Filter((*terms, *(Term(name, (str(at_us),)) for name, at_us in times.items())))


def _attempt(record: Record) -> Attempt:
    return Attempt(id=record.id, started_at=format_timestamp(record.started_at), result=result_of(record))
