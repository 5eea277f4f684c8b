"""Read one request with its bodies. Only this module decodes stored bodies.

The API, the command line, full-text search and the recorder read bodies through this module. So all of them handle
compressed, damaged and overly large bodies in the same way.
"""

from collections.abc import Callable, Iterator
from typing import Final, Self

from relaybook.apis import BY_KIND, match
from relaybook.ids import parse_id
from relaybook.log.formats import audio
from relaybook.log.formats.conversation import Request, Response
from relaybook.log.formats.decode import Decoded, codings_of, decode
from relaybook.log.formats.provider_errors import read_error
from relaybook.log.formats.reading import read_request, read_response
from relaybook.log.query.filters import Filter
from relaybook.log.record import Detail, Record, Side, stored_id
from relaybook.log.store.entry import Body, Entry, body_size
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader, Running, StoredRecord

#: Maximum size of a body that is parsed, before and after decoding. Larger bodies are stored but not parsed.
MAX_BODY_BYTES: Final = 64 << 20


#: Statuses of responses that have no body on purpose.
NO_CONTENT: Final = (204, 205)


def decode_body(data: bytes, content_encoding: str | None) -> Decoded:
    """Return a body without its content codings, and how much of it was decoded.

    A body that exceeds 64 MiB before or after decoding has the state ``too_large``, and no data.
    """
    if len(data) > MAX_BODY_BYTES:
        return Decoded(b"", "too_large")
    return decode(data, content_encoding, limit=MAX_BODY_BYTES)


class RequestView:
    """A finished or running request and its bodies.

    A body that is not in memory is read from the store each time it is used.
    """

    def __init__(
        self,
        record: Record,
        detail: Detail | None,
        request_size: int | None,
        response_size: int | None,
        transferred: Callable[[Side], Iterator[bytes] | None],
        *,
        is_running: bool = False,
        damage: str | None = None,
    ) -> None:
        """``damage`` says why headers and bodies cannot be read. `None` if they are not damaged."""
        self.record = record
        self.detail = detail or Detail()
        self.is_running = is_running
        self.damage = damage
        #: Whether the headers can be read. False if they are damaged, no longer stored, or, for a running request, not
        #: stored yet.
        self.has_headers = detail is not None
        self._sizes: dict[Side, int | None] = {"request": request_size, "response": response_size}
        self._transferred = transferred

    @classmethod
    def open(cls, reader: Reader, record_id: str) -> Self | None:
        """Return the finished or running request with this Relaybook id, or `None` if no request has the id."""
        if view := cls._finished(reader, record_id):
            return view
        if running := reader.open_request(record_id):
            return cls._running(running)
        # The request may have ended between the two calls.
        return cls._finished(reader, record_id)

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """Return a view of an entry whose bodies are in memory.

        Call this method only if ``Body.refs`` of both bodies is empty, because the view reads only ``Body.rest``.
        """
        bodies: dict[Side, Body | None] = {"request": entry.request, "response": entry.response}

        def transferred(side: Side) -> Iterator[bytes] | None:
            body = bodies[side]
            return None if body is None else iter(body.rest)

        return cls(entry.record, entry.detail, body_size(entry.request), body_size(entry.response), transferred)

    @classmethod
    def _finished(cls, reader: Reader, record_id: str) -> Self | None:
        stored = reader.get(record_id)
        return None if stored is None else cls.of_stored(reader, stored)

    @classmethod
    def of_stored(cls, reader: Reader, stored: StoredRecord) -> Self:
        """Return a view of a finished request that the reader returned."""
        record_id = stored.record.id
        in_memory: dict[Side, bytes | None] = {"request": stored.request, "response": stored.response}

        def transferred(side: Side) -> Iterator[bytes] | None:
            data = in_memory[side]
            return reader.body(record_id, side) if data is None else iter([data])

        sizes = stored.request_size, stored.response_size
        return cls(stored.record, stored.detail, *sizes, transferred, damage=stored.damage)

    @classmethod
    def _running(cls, running: Running) -> Self:
        so_far: dict[Side, bytes | None] = {"request": running.request, "response": running.response}

        def transferred(side: Side) -> Iterator[bytes] | None:
            data = so_far[side]
            return None if data is None else iter([data])

        request_size, response_size = (None if data is None else len(data) for data in so_far.values())
        return cls(running.record, running.detail, request_size, response_size, transferred, is_running=True)

    def headers(self, side: Side) -> list[tuple[str, str]]:
        """Return the stored headers in the order in which they were sent."""
        return self.detail.request_headers if side == "request" else self.detail.response_headers

    def content_encoding(self, side: Side) -> str | None:
        """Return all content codings, separated by commas (RFC 9110 §5.3). `None` if the body has no content coding."""
        head = self.detail.request_head if side == "request" else self.detail.response_head
        if b"content-encoding" not in head.lower():
            return None  # faster than splitting all headers
        value = ",".join(value for name, value in self.headers(side) if name.lower() == "content-encoding")
        return ", ".join(codings_of(value)) or None

    def size(self, side: Side) -> int | None:
        """Return the size of the body as transferred, or `None` if the body is not stored."""
        return self._sizes[side]

    def transferred(self, side: Side) -> Iterator[bytes] | None:
        """Return the body as transferred, in chunks. `None` if the body is not stored. Raises BodyDamaged.

        For a running request, the chunks contain the body so far.
        """
        if self.damage is not None:
            raise BodyDamaged(self.damage)
        return self._transferred(side)

    def body(self, side: Side) -> bytes | None:
        """Return the decoded body, or `None` if it cannot be read. Raises BodyDamaged.

        A body cannot be read if it was not stored, exceeds 64 MiB, or has an unknown or damaged content encoding.
        """
        if (self.size(side) or 0) > MAX_BODY_BYTES:
            return None
        chunks = self.transferred(side)
        if chunks is None:
            return None
        decoded = decode_body(b"".join(chunks), self.content_encoding(side))
        return decoded.data if decoded.is_readable else None

    def request(self) -> Request | None:
        """Return the request in the model of all formats. Raises BodyDamaged.

        `None` if the body cannot be read or bodies of its API are not read.
        """
        api = BY_KIND[self.record.kind]
        body = self.body("request") if api.is_read else None
        if body is None:
            return None
        found = match(self.record.method, self.record.path)
        return read_request(body, found._replace(api=api, model=self.record.model))

    def response(self) -> Response | None:
        """Return the response in the model of all formats, put together from its events. Raises BodyDamaged.

        `None` if the body cannot be read or bodies of its API are not read.
        """
        record = self.record
        body = self.body("response") if BY_KIND[record.kind].is_read else None
        if body is None:
            return None
        if record.status is not None and record.status >= 400:
            return Response(error=read_error(body, record.kind))
        if record.status in NO_CONTENT:
            return None
        complete = record.outcome == "complete"
        response = read_response(body, record.kind, is_event_stream=record.stream, complete=complete).response
        if record.kind == "audio":
            names = (value for name, value in self.headers("response") if name.lower() == "content-type")
            audio.add_type(response, next(names, ""))
        return response


def find_request(reader: Reader, any_id: str, limit: int) -> tuple[RequestView, list[Record]] | None:
    """Find a request by any of its ids. `None` if no request has the id.

    The request with the Relaybook id ``any_id`` is preferred. Otherwise, the newest finished request with the foreign
    id ``any_id`` is returned. If there is none, a running request with this foreign id is returned. At most ``limit``
    other finished requests with this foreign id are also returned, newest first. ``record.FOREIGN_IDS`` lists the
    foreign ids.
    """
    matching = reader.find(stored_id(any_id), limit + 1)
    for record_id in _candidate_ids(reader, any_id, matching):
        if view := RequestView.open(reader, record_id):
            return view, [record for record in matching if record.id != record_id][:limit]
    return None


def _candidate_ids(reader: Reader, any_id: str, matching: list[Record]) -> Iterator[str]:
    """Yield the Relaybook ids of requests that may have the id, best candidates first.

    The ids are yielded one by one, because opening a request costs up to three queries.
    """
    own_id = any_id.lower()  # RFC 9562 §4: output is lower case, input is case-insensitive
    if parse_id(own_id) is not None:
        yield own_id
    yield from (record.id for record in matching[:1])
    for record in reader.running(Filter()):
        if stored_id(any_id) in record.foreign_ids:
            yield record.id
