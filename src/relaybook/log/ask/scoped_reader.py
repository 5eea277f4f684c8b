"""Read a log as if only the requests in a scope existed.

Positions in the log (``seq``), the sizes of files, gaps and the recorders are those of the whole log. What no request
identifies, such as the number of refused requests, is empty. A deletion, reread or saved filter exists only if its
filter names the namespaces. The log forgets these names when the requests of a deletion are removed, and when a reread
is done, so the deletion or reread is then no longer listed.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Final, TypeVar

from msgspec.structs import replace

from relaybook import clock
from relaybook.log.aggregate.stats import Stats, StatsQuery
from relaybook.log.ask.scope import Scope
from relaybook.log.deletions import Deletion
from relaybook.log.namespaces import NamespaceQuery, NamespaceRow
from relaybook.log.query.filters import MAX_LIMIT, Cursor, Filter, Sort
from relaybook.log.query.found_values import FoundValue, FoundValues, best, values_with
from relaybook.log.query.term_values import check_listed, values_of
from relaybook.log.record import Gap, Record, Side
from relaybook.log.rereads import Reread
from relaybook.log.retention import RequestTimes
from relaybook.log.saved_filters import SavedFilter, filter_of
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Count, FeedbackTotals, Link, Page, Reader, Running, StoredRecord, ValueCount
from relaybook.log.store.status import StoreStatus
from relaybook.tags import NamePatterns

_Work = TypeVar("_Work", Deletion, Reread)
#: Time limit for the counts in a status.
_STATUS_NS: Final = 2 * clock.NANOSECONDS


class ScopedReader:
    """Implements ``Reader`` for the requests in a scope. The methods have the docstrings of ``Reader``."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        return self._reader.page(self._scope.narrow(filter_), limit, cursor, deadline_ns)

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        if self.get(record_id) is None:
            return None
        return self._reader.around(record_id, self._scope.narrow(filter_), limit, deadline_ns)

    def top(self, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> Page:
        return self._reader.top(self._scope.narrow(filter_), sort, limit, deadline_ns)

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        return self._reader.count(self._scope.narrow(filter_), deadline_ns)

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        return self._reader.feedback_totals(self._scope.narrow(filter_), deadline_ns)

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        if question.from_us is None:  # the range would begin at the first request of the whole log
            first, _ = self.request_times((), deadline_ns).get(None, (question.to_us, 0))
            question = replace(question, from_us=min(first, question.to_us - 1))
        return self._reader.stats(replace(question, filter_=self._scope.narrow(question.filter_)), deadline_ns)

    def running(self, filter_: Filter) -> list[Record]:
        return self._reader.running(self._scope.narrow(filter_))

    def open_request(self, record_id: str) -> Running | None:
        found = self._reader.open_request(record_id)
        return found if found is not None and self._scope.includes(found.record.namespace) else None

    def get(self, record_id: str) -> StoredRecord | None:
        found = self._reader.get(record_id)
        return found if found is not None and self._scope.includes(found.record.namespace) else None

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        while found := self._reader.entries(after, limit, max_bytes):
            if visible := [entry for entry in found if self._scope.includes(entry.record.namespace)]:
                return visible
            after = found[-1].record.seq or after
        return []

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        return self._reader.links(self._scope.narrow(filter_), limit, cursor, deadline_ns)

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        asked = limit
        while True:
            found = self._reader.find(foreign_id, asked)
            visible = [record for record in found if self._scope.includes(record.namespace)]
            if len(visible) >= limit or len(found) < asked:
                return visible[:limit]
            asked *= 4

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        return None if self.get(record_id) is None else self._reader.body(record_id, side)

    def namespaces(
        self, query: NamespaceQuery, limit: int, after: str | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        visible: list[NamespaceRow] = []
        while True:
            rows, after = self._reader.namespaces(query, limit - len(visible), after, deadline_ns)
            visible += [row for row in rows if self._scope.includes(row.namespace)]
            if after is None or len(visible) == limit:
                return visible, after

    def request_times(self, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
        owner = NamePatterns[str | None]({pattern: pattern for pattern in patterns})
        times: dict[str | None, tuple[int, int]] = {}
        for row in self._namespaces("", deadline_ns):
            if row.requests:
                pattern = owner.find(row.namespace, None)
                first, last = times.get(pattern, (row.first_at, row.last_at))
                times[pattern] = (min(first, row.first_at), max(last, row.last_at))
        return times

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        check_listed(field)
        counts: Counter[str] = Counter()
        if field == "namespace":
            counts.update(
                {row.namespace: row.requests for row in self._namespaces(prefix, deadline_ns) if row.requests}
            )
        else:
            for record in self._records(deadline_ns):
                counts.update({value for value in values_of(record, field) if value.startswith(prefix)})
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [ValueCount(value=value, requests=requests) for value, requests in ranked[:limit]]

    def find_values(self, text: str, limit: int, deadline_ns: int) -> FoundValues:
        counts: Counter[tuple[str, str]] = Counter()
        is_complete = True
        try:
            for record in self._records(deadline_ns):
                counts.update(set(values_with(text, record)))
        except DeadlinePassed:
            is_complete = False
        found = (FoundValue(*pair, requests) for pair, requests in counts.items())
        return FoundValues(best(text, found, limit), is_complete)

    def saved_filters(self) -> list[SavedFilter]:
        now_us = clock.wall_us()
        return [saved for saved in self._reader.saved_filters() if self._scope.covers(filter_of(saved, now_us))]

    def gaps(self, since_us: int) -> list[Gap]:
        return self._reader.gaps(since_us)

    def deletions(self, limit: int) -> list[Deletion]:
        return self._covered(self._reader.deletions, limit)

    def rereads(self, limit: int) -> list[Reread]:
        return self._covered(self._reader.rereads, limit)

    def _covered(self, latest: Callable[[int], list[_Work]], limit: int) -> list[_Work]:
        """Return the latest deletions or rereads whose filter is covered by the scope."""
        asked = limit
        while True:
            found = latest(asked)
            visible = [each for each in found if self._scope.covers(each.filter_)]
            if len(visible) >= limit or len(found) < asked:
                return visible[:limit]
            asked *= 4

    def last_seq(self) -> int:
        return self._reader.last_seq()

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        return self._reader.since(seq, self._scope.narrow(filter_), limit)

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        return self._reader.stored_since(seq, self._scope.narrow(filter_), limit)

    def status(self) -> StoreStatus:
        deadline_ns = clock.monotonic_ns() + _STATUS_NS
        rows = list(self._namespaces("", deadline_ns))
        return replace(
            self._reader.status(),
            records=sum(row.requests for row in rows),
            namespaces=len(rows),
            labels=sum(row.pinned for row in rows),
            feedback=self.feedback_totals(Filter(), deadline_ns).requests,
            positions={},
            refused={},
            oldest_at=min((row.first_at for row in rows if row.requests), default=None),
            oldest_content_at=None,
            last_removal=None,
        )

    def close(self) -> None:
        self._reader.close()

    def _namespaces(self, prefix: str, deadline_ns: int) -> Iterator[NamespaceRow]:
        query = NamespaceQuery(prefix=prefix, sort="requests")
        after: str | None = None
        while True:
            rows, after = self.namespaces(query, MAX_LIMIT, after, deadline_ns)
            yield from rows
            if after is None:
                return

    def _records(self, deadline_ns: int) -> Iterator[Record]:
        """Yield all finished requests in scope, newest first. Raises DeadlinePassed."""
        cursor: Cursor | None = None
        while True:
            page = self.page(Filter(), MAX_LIMIT, cursor, deadline_ns)
            yield from page.records
            if not page.complete:
                raise DeadlinePassed
            if page.next_cursor is None:
                return
            cursor = page.next_cursor
