"""Streams rows as they are recorded and as running ones change: server-sent events that resume without loss.

Each finished row's event id is its ``seq``. A client that comes back with ``Last-Event-ID`` gets what it missed, or a
``gap`` event when that is too much: then it loads afresh. Events without data only move the resume point on.
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
from relaybook.api import arguments, document
from relaybook.api.broadcaster import Broadcaster, Subscription, TooManySubscriptions, gap_event, point_event, row_event
from relaybook.api.errors import ApiError
from relaybook.api.live_search import Followers, follow
from relaybook.api.options import options_of
from relaybook.api.reading import Reading, reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Row
from relaybook.log.query.filters import BadFilter, asks_texts

_log = logging.getLogger("relaybook.api")
routes = Routes("log")

#: A client further behind than this many records loads afresh instead of having them replayed.
MAX_REPLAY: Final = 10_000
#: A client that takes nothing for this long is gone.
STALL_SECONDS: Final = 60.0
_BATCH: Final = 500
_MEDIA_TYPE: Final = "text/event-stream"

_LAST_EVENT_ID = document.parameter(
    "Last-Event-ID", "Id of the last event received. The stream resumes after it.", {"type": "integer"}, "header"
)


@routes.get("/api/live", document.reads(Row, [*document.filter_parameters(), _LAST_EVENT_ID], _MEDIA_TYPE))
async def watch_requests(request: Request) -> Response:
    """Stream requests as server-sent events.

    The event `request` contains a row; it is sent again when the row changes. The event `gap` means that rows were
    skipped: reload the list. A comment is sent every 15 seconds. With words in `q`, or with `contains`, only finished
    requests are sent, when full-text search can find them.
    """
    wanted = arguments.wanted_of(arguments.pairs_of(request))
    resume_from = _resume_point(request.headers.get("last-event-id"))
    broadcaster: Broadcaster = request.app.state.broadcaster
    reading, options = reading_of(request), options_of(request)
    try:
        if asks_texts(wanted):
            followers: Followers = request.app.state.followers
            followers.enter()
            events = follow(broadcaster, reading, wanted, resume_from, options.poll_seconds, options.ping_seconds)
            return EventStream(events, followers.leave)
        subscription = await broadcaster.subscribe(wanted)
    except TooManySubscriptions:
        raise ApiError("too_many_streams", "Too many live connections are open: close some dashboards.") from None
    events = stream(broadcaster, subscription, reading, resume_from, options.ping_seconds)
    return EventStream(events, partial(broadcaster.unsubscribe, subscription))


class EventStream(StreamingResponse):
    """A response that calls ``leave`` however it ends, and gives up on a client that takes nothing."""

    def __init__(self, events: AsyncIterator[bytes], leave: Callable[[], None]) -> None:
        super().__init__(events, media_type=_MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()

    async def stream_response(self, send: Send) -> None:
        """Sends until the events end, the client leaves, or it stalls: then the response stays without its end."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALL_SECONDS):
                await send(message)

        try:
            await super().stream_response(send_in_time)
        except TimeoutError:
            _log.info("live_client_stalled")


async def stream(
    broadcaster: Broadcaster, subscription: Subscription, reading: Reading, resume_from: int | None, ping_seconds: float
) -> AsyncIterator[bytes]:
    """The bytes of one live connection, until its subscription is cut."""
    yield b"retry: 2000\n\n"
    if resume_from is not None:
        async for missed in _replay(subscription, reading, resume_from):
            yield missed
    yield point_event(subscription.position)
    next_ping_ns = _later(ping_seconds)
    while True:
        news = await subscription.take((next_ping_ns - clock.monotonic_ns()) / clock.NANOSECONDS)
        if subscription.is_cut:
            break
        if news:
            yield news
        if clock.monotonic_ns() >= next_ping_ns:
            next_ping_ns = _later(ping_seconds)
            # All that was offered has been taken, so whoever resumes from here misses nothing.
            yield b": ping\n" + (b"\n" if subscription.has_news else point_event(broadcaster.position))
    if not broadcaster.is_closed:
        yield gap_event(broadcaster.position)


async def _replay(subscription: Subscription, reading: Reading, resume_from: int) -> AsyncIterator[bytes]:
    """What was recorded after ``resume_from`` and before the subscription began."""
    position = subscription.position
    if resume_from > position:
        # The client has seen more than the last look: it gets the rest as news. Or it comes from another log.
        if resume_from > await reading.ask(lambda reader: reader.last_seq()):
            yield gap_event(position)
        return
    if position - resume_from > MAX_REPLAY:
        yield gap_event(position)
        return
    while resume_from < position and not subscription.is_cut:
        after = resume_from
        records, resume_from = await reading.ask(lambda reader: reader.since(after, subscription.wanted, _BATCH))  # noqa: B023 - asked at once
        missed = [row_event(record) for record in records if (record.seq or 0) <= position]
        if missed:
            yield b"".join(missed)
        if resume_from <= after:  # the store is too slow to tell
            yield gap_event(position)
            return


def _resume_point(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadFilter(
            "Last-Event-ID", f"Last-Event-ID is {text[:80]!r}: send back the id of an event of this stream."
        )
    return int(text)


def _later(seconds: float) -> int:
    return clock.monotonic_ns() + int(seconds * clock.NANOSECONDS)
