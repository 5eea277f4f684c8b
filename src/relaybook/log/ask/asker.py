"""Answer questions about the log within a scope, each until a deadline."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeVar

from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.ask import (
    cache,
    compare,
    count,
    deletions,
    detail,
    feedback,
    lanes,
    last_good,
    media,
    namespaces,
    progress,
    replay,
    requests,
    rereads,
    saved_filters,
    stats,
    thread,
    values,
)
from relaybook.log.ask.cache import ThreadCache
from relaybook.log.ask.compare import Comparison
from relaybook.log.ask.count import RequestCount
from relaybook.log.ask.deletions import LATEST, DeletionList, DeletionReceipt, RequestedDeletion
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.feedback import AcceptedFeedback, FeedbackSummary
from relaybook.log.ask.fields import Row
from relaybook.log.ask.lanes import Lanes
from relaybook.log.ask.last_good import LastGood
from relaybook.log.ask.namespaces import Namespace, NamespacePage
from relaybook.log.ask.progress import ResponseProgress
from relaybook.log.ask.replay import ReplayablePage
from relaybook.log.ask.requests import RequestPage
from relaybook.log.ask.rereads import RereadList, RereadRow
from relaybook.log.ask.saved_filters import SavedFilterList, SavedFilterRow
from relaybook.log.ask.scope import Scope
from relaybook.log.ask.scoped_reader import ScopedReader
from relaybook.log.ask.stats import StatsResponse
from relaybook.log.ask.thread import Thread
from relaybook.log.ask.values import FieldValues, FoundValueList
from relaybook.log.deletions import Deletions
from relaybook.log.export.export import Export, ExportQuery, searchable_to
from relaybook.log.feedback import FeedbackLog
from relaybook.log.formats.media_bytes import MediaFile
from relaybook.log.namespaces import LabelChange, Labels, NamespaceQuery
from relaybook.log.prices import Prices
from relaybook.log.prompt_cache import CacheReport
from relaybook.log.query.completion import KnownValues
from relaybook.log.query.filters import Cursor, Filter, Sort, Term
from relaybook.log.record import Feedback, Gap, Record, Side
from relaybook.log.request_view import RequestView
from relaybook.log.rereads import Rereads
from relaybook.log.retention import RequestTimes
from relaybook.log.saved_filters import SavedFilter, SavedFilters
from relaybook.log.store.port import Reader
from relaybook.log.store.status import StoreStatus

_Interface = TypeVar("_Interface")


class Changes(NamedTuple):
    """The interfaces through which a program changes the log. `None` if it opens the log for reading only."""

    labels: Labels | None = None
    saved_filters: SavedFilters | None = None
    feedback: FeedbackLog | None = None
    deletions: Deletions | None = None
    rereads: Rereads | None = None


class Asker:
    """Answers questions. Requests out of scope do not exist: no answer contains them, and nothing changes them.

    ``deadline_ns`` is the time on the monotonic clock at which an answer must be there. Exact counts, deletions,
    rereads and exports have their own limits. Methods raise AskError, BadFilter, DeadlinePassed and StoreUnavailable.
    ``prices`` are those of the settings. Only answers about the provider's cache need them.
    """

    def __init__(
        self,
        reader: Reader,
        deadline_ns: int,
        changes: Changes | None = None,
        scope: Scope = Scope.ALL,
        prices: Prices | None = None,
    ) -> None:
        self.scope = scope
        self.deadline_ns = deadline_ns
        self._whole_log = reader
        self._reader: Reader = reader if scope.is_all else ScopedReader(reader, scope)
        self._changes = changes or Changes()
        self._prices = prices or Prices()

    # Requests

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None = None) -> RequestPage:
        """Return a page of the log, newest first. Without a cursor, the page includes the running requests."""
        return requests.page(self._reader, filter_, limit, cursor, self.deadline_ns)

    def around(self, record_id: str, filter_: Filter, limit: int) -> RequestPage:
        """Return the page with the request in the middle of its matching neighbors."""
        return requests.around(self._reader, record_id, filter_, limit, self.deadline_ns)

    def top(self, filter_: Filter, sort: Sort, limit: int) -> RequestPage:
        """Return the finished requests with the highest or lowest values of a number."""
        return requests.top(self._reader, filter_, sort, limit, self.deadline_ns)

    def detail(self, any_id: str, first_message: int = 0) -> Row:
        """Return everything known about the request with an id: the fields of ``RequestDetail``.

        Messages before ``first_message`` are left out.
        """
        return detail.detail(self._reader, any_id, first_message, self.deadline_ns)

    def progress(self, any_id: str) -> ResponseProgress:
        """Return how the text of a streamed response grew from chunk to chunk."""
        return progress.progress(detail.view(self._reader, any_id)[0])

    def view(self, any_id: str) -> RequestView:
        """Return the request with an id, to read its headers and bodies."""
        return detail.view(self._reader, any_id)[0]

    def compare(self, a: str, b: str) -> Comparison:
        """Return the differences between two requests, each found by any of its ids."""
        return compare.comparison(self._reader, a, b)

    def last_good(self, any_id: str) -> LastGood:
        """Return the last successful request that is like a request, or else the nearest one."""
        return last_good.last_good(self._reader, any_id, self.deadline_ns)

    def media(self, any_id: str, side: Side, at: int, place: int) -> MediaFile:
        """Return an image or audio: part ``place`` of message or output ``at`` of the request with an id."""
        return media.media(self.view(any_id), side, at, place)

    def thread(self, filter_: Filter, limit: int, cursor: Cursor | None = None, around: str | None = None) -> Thread:
        """Return a page of the thread that the filter selects, in the order of recording."""
        return thread.thread(self._reader, filter_, limit, (cursor, around), self.deadline_ns)

    def lanes(self, selected: Filter | str) -> Lanes:
        """Return when the models and the tools of a thread ran. ``selected`` is a filter, or any id of a request.

        With an id, the answer has only the conversation of the request.
        """
        return lanes.lanes(self._reader, selected, self.deadline_ns)

    def cache(self, any_id: str) -> CacheReport:
        """Return what the request with an id sent again, and what the provider read from its cache."""
        return cache.cache(self._reader, any_id, self._prices, self.deadline_ns)

    def thread_cache(
        self, filter_: Filter, limit: int, cursor: Cursor | None = None, around: str | None = None
    ) -> ThreadCache:
        """Return the same as ``cache`` for each request of a page of a thread."""
        return cache.thread_cache(self._reader, filter_, limit, (cursor, around), self._prices, self.deadline_ns)

    def export(self, query: ExportQuery) -> Export:
        """Begin an export. Its chunks are read later, without a deadline."""
        return Export(self._reader, query)

    def replayable(self, filter_: Filter, after: int = 0, ignored: Sequence[Sequence[str]] = ()) -> ReplayablePage:
        """Return the next requests that can be replayed, with hashes of their bodies.

        ``ignored`` are the paths of JSON fields that the hashes do not cover.
        """
        return replay.replayable(self._reader, filter_, after, ignored)

    # Numbers and lists

    def count(self, filter_: Filter) -> RequestCount:
        """Return the number of finished requests that match. The count stops after 300 ms."""
        return count.count(self._reader, filter_, count.count_deadline_ns(self.deadline_ns))

    def count_exactly(self, filter_: Filter) -> RequestCount:
        """Return the number of finished requests that match. The count stops after ten seconds."""
        return count.count(self._reader, filter_, count.exact_deadline_ns())

    def stats(self, query: StatsQuery, *, with_previous: bool = False) -> StatsResponse:
        """Return aggregates over time, and with ``with_previous`` also those of the same span before."""
        return stats.stats(self._reader, query, self.deadline_ns, with_previous=with_previous)

    def values(self, field: str, prefix: str, limit: int) -> FieldValues:
        """Return the values of a field, most frequent first."""
        return values.values(self._reader, field, prefix, limit, self.deadline_ns)

    def completions(self) -> KnownValues:
        """Return functions that list values, to complete a query."""
        return values.completions(self._reader, self.deadline_ns)

    def find_values(self, text: str, limit: int) -> FoundValueList:
        """Return values of all fields that contain the text, best match first."""
        return values.find_values(self._reader, text, limit, self.deadline_ns)

    def namespaces(
        self, query: NamespaceQuery, limit: int, cursor: str | None = None, time_range: Filter | None = None
    ) -> NamespacePage:
        """Return a page of namespaces, and count their requests in the time range."""
        return namespaces.namespaces(self._reader, query, limit, cursor, time_range or Filter(), self.deadline_ns)

    def change_label(self, change: LabelChange) -> Namespace:
        """Pin or unpin a namespace, or change its color, group or position."""
        labels = _writable(self._changes.labels, "Namespaces cannot be pinned")
        if not self.scope.includes(change.namespace):
            raise AskError("not_found", f"There is no namespace {change.namespace[:80]!r}.", "namespace")
        return namespaces.change_label(labels, change)

    def saved_filters(self) -> SavedFilterList:
        """Return all saved filters, sorted by name."""
        return saved_filters.all_of(self._reader)

    def save_filter(self, saved: SavedFilter) -> SavedFilterRow:
        """Save a filter under a name. A filter that already has this name is replaced."""
        filters = _writable(self._changes.saved_filters, "Saved filters cannot be changed")
        if not self.scope.is_all:
            saved_filters.check_scope(self._whole_log, self.scope, saved)
        return saved_filters.save(filters, saved)

    def delete_filter(self, name: str) -> SavedFilterRow:
        """Delete a saved filter and return it."""
        filters = _writable(self._changes.saved_filters, "Saved filters cannot be changed")
        if not self.scope.is_all and name not in {saved.name for saved in self._reader.saved_filters()}:
            raise saved_filters.not_found(name)
        return saved_filters.delete(filters, name)

    # Feedback, deletions and rereads

    def feedback(self, filter_: Filter) -> FeedbackSummary:
        """Return totals of the feedback on the finished requests that match. The search stops after 300 ms."""
        return feedback.summary(self._reader, filter_, count.count_deadline_ns(self.deadline_ns))

    def give_feedback(self, any_id: str, given: Feedback) -> AcceptedFeedback:
        """Give feedback on a request. New feedback replaces earlier feedback from the same source."""
        feedback_log = _writable(self._changes.feedback, "Feedback cannot be stored")
        if not self.scope.is_all:
            any_id = self.view(any_id).record.id
        return feedback.give(feedback_log, any_id, given)

    def delete(self, filter_: Filter, confirm: int, by: str) -> RequestedDeletion:
        """Delete all finished requests that match. ``confirm`` must be their number, ``by`` says who asks."""
        interface = _writable(self._changes.deletions, "Nothing can be deleted")
        return deletions.delete(self._reader, interface, self.scope.narrow(filter_), confirm, by)

    def delete_one(self, record_id: str, by: str) -> RequestedDeletion:
        """Delete one finished request."""
        interface = _writable(self._changes.deletions, "Nothing can be deleted")
        return deletions.delete_one(self._reader, interface, record_id, self.scope, by, self.deadline_ns)

    def deletions(self, limit: int = LATEST) -> DeletionList:
        """Return the latest deletions, newest first."""
        return deletions.latest(self._reader, limit)

    def deletion(self, deletion_id: str, filter_: Filter | None = None) -> DeletionReceipt | None:
        """Return one deletion, or `None` if no deletion has the id. Check whether it had the filter."""
        return deletions.receipt(self._reader, deletion_id, self.scope.narrow(filter_) if filter_ else Filter())

    def reread(self, filter_: Filter, by: str) -> RereadRow:
        """Read the bodies of all finished requests that match again. ``by`` says who asks."""
        interface = _writable(self._changes.rereads, "Nothing can be read again")
        return rereads.reread(self._reader, interface, self.scope.narrow(filter_), by)

    def rereads(self, limit: int = LATEST) -> RereadList:
        """Return the latest rereads, newest first."""
        return rereads.latest(self._reader, limit)

    def improvable(self) -> list[tuple[Term, int]]:
        """Return the number of requests that a later version may read better."""
        return rereads.improvable(self._reader, self.deadline_ns)

    def find_reread(self, reread_id: str) -> RereadRow | None:
        """Return one reread, or `None` if no reread has the id."""
        return rereads.find(self._reader, reread_id)

    # The log as a whole

    def status(self) -> StoreStatus:
        """Return the metrics of the store."""
        return self._reader.status()

    def gaps(self) -> list[Gap]:
        """Return all gaps in the log, newest first."""
        return self._reader.gaps(0)

    def request_times(self, patterns: Collection[str]) -> RequestTimes:
        """Return the start times of the first and of the last request, by pattern of namespaces."""
        return self._reader.request_times(patterns, self.deadline_ns)

    def oldest_aggregates(self) -> int | None:
        """Return the start of the oldest day that has aggregates, in microseconds. `None` if there are none."""
        return stats.oldest_day(self._reader, self.deadline_ns)

    # Changes, as they happen

    def last_seq(self) -> int:
        """Return the ``seq`` of the newest record."""
        return self._reader.last_seq()

    def indexed_to(self, filter_: Filter) -> int:
        """Return the ``seq`` of the newest record that the filter can find."""
        return searchable_to(self._reader, filter_)

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        """Return matching records after ``seq``, oldest first, and the ``seq`` up to which the result is complete."""
        return self._reader.since(seq, filter_, limit)

    def running(self, filter_: Filter) -> list[Record]:
        """Return the matching running requests, latest start first."""
        return self._reader.running(filter_)


def _writable(interface: _Interface | None, what: str) -> _Interface:
    if interface is None:
        raise AskError("store_unavailable", f"{what}, because this program opens the log for reading only.")
    return interface
