"""Stream rows as server-sent events. A row is sent when a request is recorded or a running request changes.

The event id of a finished row is the row's ``seq``. A client that reconnects with ``Last-Event-ID`` gets the rows that
it missed. If the client missed too many rows, it gets a ``gap`` event and reloads the list. Events without data only
advance the last event id.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import AsyncAsker, async_asker_of
from relaybook.api.broadcaster import (
    Broadcaster,
    Subscription,
    TooManySubscriptions,
    gap_event,
    position_event,
    row_event,
)
from relaybook.api.errors import ApiError
from relaybook.api.live_search import SearchStreams, stream_matches
from relaybook.api.options import options_of
from relaybook.api.routes import Routes
from relaybook.log.ask.fields import Row
from relaybook.log.query.filters import BadFilter, needs_text

_log = logging.getLogger("relaybook.api")
routes = Routes("log")

#: Maximum number of records to replay. If a client missed more records, it gets a ``gap`` event.
MAX_REPLAY: Final = 10_000
#: Maximum duration of a replay. If a replay takes longer, the client gets a ``gap`` event.
_REPLAY_NS: Final = 5 * clock.NANOSECONDS
#: A client that reads nothing for this long is disconnected.
STALL_SECONDS: Final = 60.0
_BATCH: Final = 500
_MEDIA_TYPE: Final = "text/event-stream"

_LAST_EVENT_ID = openapi.parameter(
    "Last-Event-ID",
    "Id of the last event that was received. The stream resumes after this event.",
    {"type": "integer"},
    "header",
)


@routes.get("/api/live", openapi.describe(Row, [*openapi.filter_parameters(), _LAST_EVENT_ID], _MEDIA_TYPE))
async def stream_requests(request: Request) -> Response:
    """Stream requests as server-sent events.

    - The event `request` contains a row. The event is sent again when the row changes, but not for new feedback on a
      finished request.
    - The event `gap` means that rows were skipped. Load the list again.
    - An SSE comment is sent every 15 seconds.

    If the filter searches text (`words`, words in `q`, or `contains`), only finished requests are sent. Each request is
    sent as soon as full-text search can find the request.
    """
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    resume_from = _parse_last_event_id(request.headers.get("last-event-id"))
    broadcaster: Broadcaster = request.app.state.broadcaster
    async_asker, options = async_asker_of(request), options_of(request)
    try:
        if needs_text(filter_):
            search_streams: SearchStreams = request.app.state.search_streams
            events = await stream_matches(
                broadcaster, async_asker, filter_, resume_from, options.poll_seconds, options.ping_seconds
            )
            search_streams.acquire()
            return EventStream(events, search_streams.release)
        subscription = await broadcaster.subscribe(async_asker.scope.narrow(filter_))
    except TooManySubscriptions:
        raise ApiError("too_many_streams", "Too many live connections are open. Close some dashboards.") from None
    events = stream(broadcaster, subscription, async_asker, resume_from, options.ping_seconds)
    return EventStream(events, partial(broadcaster.unsubscribe, subscription))


class EventStream(StreamingResponse):
    """A streaming response that disconnects stalled clients, and always calls ``on_close`` when it ends."""

    def __init__(self, events: AsyncIterator[bytes], on_close: Callable[[], None]) -> None:
        super().__init__(events, media_type=_MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._on_close = on_close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_close()

    async def stream_response(self, send: Send) -> None:
        """Send events until there are no more events, the client disconnects, or the client stalls.

        The response to a stalled client stays incomplete.
        """

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALL_SECONDS):
                await send(message)

        try:
            await super().stream_response(send_in_time)
        except TimeoutError:
            _log.info("live_client_stalled")


async def stream(
    broadcaster: Broadcaster,
    subscription: Subscription,
    async_asker: AsyncAsker,
    resume_from: int | None,
    ping_seconds: float,
) -> AsyncIterator[bytes]:
    """Yield the server-sent events for one connection, encoded, until the subscription is closed.

    If the client sent the id of its last event, ``resume_from`` is this id. The rows that the client missed then come
    first.
    """
    yield b"retry: 2000\n\n"
    if resume_from is not None:
        async for missed in _replay(subscription, async_asker, resume_from):
            yield missed
    yield position_event(subscription.position)
    next_ping_ns = _ns_from_now(ping_seconds)
    while True:
        events = await subscription.take((next_ping_ns - clock.monotonic_ns()) / clock.NANOSECONDS)
        if subscription.is_closed:
            break
        if events:
            yield events
        if clock.monotonic_ns() >= next_ping_ns:
            next_ping_ns = _ns_from_now(ping_seconds)
            # If the queue is empty, the client has all rows up to the broadcaster's position and can resume from there.
            yield b": ping\n" + (b"\n" if subscription.has_events else position_event(broadcaster.position))
    if not broadcaster.is_closed:
        yield gap_event(broadcaster.position)


async def _replay(subscription: Subscription, async_asker: AsyncAsker, resume_from: int) -> AsyncIterator[bytes]:
    """Yield the rows recorded after ``resume_from`` (a ``seq``) and before the subscription started, encoded.

    If there are too many rows, if reading takes too long, or if ``resume_from`` is from another log, yield a ``gap``
    event and stop.
    """
    position = subscription.position
    if resume_from > position:
        # If the log has a record with this ``seq``, the record was written after the last poll. The subscription then
        # sends all later rows. If the log has no such record, the client received the id from another log.
        if resume_from > await async_asker.run(lambda asker: asker.last_seq()):
            yield gap_event(position)
        return
    rows, until_ns = 0, clock.monotonic_ns() + _REPLAY_NS
    while resume_from < position and not subscription.is_closed:
        after = resume_from
        records, resume_from = await async_asker.run(lambda asker: asker.since(after, subscription.filter_, _BATCH))  # noqa: B023 - runs before the next iteration
        missed = [row_event(record) for record in records if (record.seq or 0) <= position]
        rows += len(missed)
        if rows > MAX_REPLAY or resume_from <= after or clock.monotonic_ns() > until_ns:
            yield gap_event(position)
            return
        if missed:
            yield b"".join(missed)


def _parse_last_event_id(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadFilter("Last-Event-ID", f"Last-Event-ID is {text[:80]!r}: expected the id of an event of this stream.")
    return int(text)


def _ns_from_now(seconds: float) -> int:
    return clock.monotonic_ns() + int(seconds * clock.NANOSECONDS)
