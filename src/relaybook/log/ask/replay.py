"""List which requests can be replayed, with the hashes by which a client's request finds them."""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.log.ask.fields import TimestampText
from relaybook.log.export.export import searchable_to
from relaybook.log.query.filters import BadFilter, Filter
from relaybook.log.request_key import RequestKey, decoded, key_of, shortened_digest, target_key
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader

_BATCH: Final = 500
#: A page ends after this time, so that a client sees progress.
_PAGE_NS: Final = clock.NANOSECONDS
_MAX_IGNORED: Final = 50


class ReplayableRequest(Struct):
    """A request that can be replayed."""

    id: str
    started_at: TimestampText
    method: str
    target: Annotated[str, Meta(description="Path and query. The values of secret parameters are replaced by `key`.")]
    key: RequestKey


class ReplayablePage(Struct, kw_only=True):
    """Requests that can be replayed, in the order of recording."""

    data: list[ReplayableRequest]
    omitted: Annotated[
        int,
        Meta(description="Number of other matching requests. Their bodies are not stored, so they cannot be replayed."),
    ]
    after: Annotated[int, Meta(description="Send this number as `after` to read the next page.")]
    complete: Annotated[bool, Meta(description="Whether there are no further requests at this time.")]


def ignored_paths(fields: Sequence[str]) -> list[list[str]]:
    """Return the paths of fields, such as ``metadata.run``. Raises BadFilter."""
    paths = [field.split(".") for field in fields]
    if len(paths) > _MAX_IGNORED or not all(name for path in paths for name in path):
        raise BadFilter("ignore", f"ignore takes up to {_MAX_IGNORED} fields of the body, such as metadata.run_id.")
    return paths


def replayable(reader: Reader, filter_: Filter, after: int, ignored: Sequence[Sequence[str]]) -> ReplayablePage:
    """Return the next requests after the position ``after``, which is 0 at the beginning."""
    until_ns = clock.monotonic_ns() + _PAGE_NS
    last = searchable_to(reader, filter_)
    found, reached = reader.stored_since(after, filter_, _BATCH)
    data, omitted = [], 0
    for stored in found:
        record, key = stored.record, _key_of(RequestView.of_stored(reader, stored), ignored)
        if key is None:
            omitted += 1
        else:
            target = target_key(record.path, record.query)
            started_at = clock.format_timestamp(record.started_at)
            data.append(ReplayableRequest(record.id, started_at, record.method, target, key))
        if clock.monotonic_ns() > until_ns:
            reached = record.seq or reached
            break
    return ReplayablePage(data=data, omitted=omitted, after=reached, complete=reached >= last)


def _key_of(view: RequestView, ignored: Sequence[Sequence[str]]) -> RequestKey | None:
    """Return the key of a request, or `None` if it cannot be replayed."""
    detail = view.detail
    is_stored = view.has_headers and view.record.body_state == "stored" and detail.response_sha256 is None
    if not is_stored or (detail.exchange is not None and not detail.exchange.has_whole_request):
        return None
    if detail.request_sha256 is not None:  # only the beginning of the body is stored
        return RequestKey(shortened_digest(detail.request_sha256), None, [])
    try:
        body = b"".join(view.transferred("request") or ())
    except BodyDamaged:
        return None
    return key_of(decoded(body, view.content_encoding("request")), ignored)
