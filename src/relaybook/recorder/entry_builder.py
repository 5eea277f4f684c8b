"""Convert an exchange into a log entry with its outcome, its cost, and facts about the request and the response.

Bodies up to 64 MiB are read, once. Larger bodies are only stored. Fields that cannot be determined are `None`, and
notes say why. This module reads no clock and opens no file.
"""

import logging
import re
from collections.abc import Callable
from typing import Final, NamedTuple, get_args

from relaybook.apis import APIS, BY_KIND, REQUEST_ID_HEADERS, Match, match
from relaybook.client_headers import CLIENT_HEADERS, Meaning
from relaybook.errors import RelayError
from relaybook.ids import id_text
from relaybook.journal.events import Closed
from relaybook.log.formats import audio, lenient
from relaybook.log.formats.advice import advice
from relaybook.log.formats.conversation import Part, Request, Response
from relaybook.log.formats.media import describe_body
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.ndjson import is_ndjson
from relaybook.log.formats.preview import characters, finish_reason, input_preview, output_preview, texts_preview
from relaybook.log.formats.provider_errors import read_error
from relaybook.log.formats.reading import INCOMPLETE, NOT_UNDERSTOOD, Reading, read_request, read_response
from relaybook.log.formats.text import ERROR_CHARACTERS, clean_or_none, estimate_tokens
from relaybook.log.formats.usage import Tokens, billed_counts, counts_of, stated_usd
from relaybook.log.prices import Prices
from relaybook.log.record import (
    CostReason,
    Detail,
    ExchangeFacts,
    MessageChain,
    Note,
    NoteCode,
    Record,
    Side,
    encode_chain,
    stored_id,
)
from relaybook.log.request_view import MAX_BODY_BYTES, NO_CONTENT, decode_body
from relaybook.log.row import PROBE_STATUSES
from relaybook.log.search_text import search_text
from relaybook.log.store.entry import Body, BodyRef, Entry
from relaybook.log.store.port import Running
from relaybook.recorder.fold import JournalExchange
from relaybook.recorder.property_sources import PropertySources
from relaybook.tags import header_text, shortened, with_metadata

log = logging.getLogger("relaybook.recorder")

_CLIENT_HEADERS: Final[dict[Meaning, list[bytes]]] = {
    meaning: [header.name.encode() for header in CLIENT_HEADERS if header.meaning == meaning]
    for meaning in get_args(Meaning)
}
_CLIENT_NAMES: Final = frozenset(header.name.encode() for header in CLIENT_HEADERS)
#: The properties for agents. Claude Code sends them with the requests of subagents.
_AGENT_PROPERTIES: Final[dict[Meaning, str]] = {"agent": "agent", "parent_agent": "parent-agent"}
_REQUEST_HEADERS: Final = frozenset(
    (
        *(b"user-agent", b"content-type", b"content-encoding"),
        *(b"x-client-request-id", b"x-stainless-retry-count", b"traceparent"),
        *_CLIENT_NAMES,
    )
)
_REQUEST_ID_HEADERS: Final = tuple(name.encode() for name in REQUEST_ID_HEADERS)
_RESPONSE_HEADERS: Final = frozenset((b"content-type", b"content-encoding", *_REQUEST_ID_HEADERS))
_TRACE: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")
_BROKEN_ARGUMENTS: Final = Note("arguments_not_json", "The arguments of a tool call are not valid JSON.")
_CLOSED_EARLY: Final = Note(
    "closed_early", "The upstream broke off the connection after the end of the stream. Nothing is missing."
)
_NOT_UNDERSTOOD: Final = Note(
    "not_understood",
    "The recorder crashed twice while parsing these bodies, so they are stored without being parsed.",
)
#: The operations of Google's API that tell whether the request asks for a stream.
_IS_STREAMED: Final = {"generateContent": False, "streamGenerateContent": True}
#: The codes of notes on a response of which at least a part was not read.
_UNREAD: Final[frozenset[NoteCode]] = frozenset(
    ("too_large_to_read", "not_json", "too_many_odd_events", "not_understood")
)
#: The note of a request whose bodies raise an error, which no body should.
DEFECT: Final = Note(
    "not_understood", "Because of a defect in Relaybook, these bodies could not be read, so they are only stored."
)
_MAX_RETRIES: Final = 1_000_000
#: How an exchange ends that has no CLOSED frame.
_INTERRUPTED: Final = Closed("interrupted")

ReadBody = Callable[[BodyRef], bytes]


class Bodies(NamedTuple):
    """The bytes of both bodies that are needed to read them. `None` if a body is too large to be read."""

    request: bytes | None
    response: bytes | None


class _Read(NamedTuple):
    """The model of an exchange, as far as its bodies were read."""

    request: Request | None = None
    response: Response | None = None


class EntryBuilder:
    """Converts each exchange into an ``Entry``. ``read_body`` reads back body bytes that were moved to the store."""

    def __init__(self, prices: Prices, read_body: ReadBody, sources: PropertySources | None = None) -> None:
        self._prices = prices
        self._read_body = read_body
        self._sources = sources or PropertySources()
        self._request_headers = _REQUEST_HEADERS | self._sources.headers

    def warm(self) -> None:
        """Load the prices and read one small body of each format, so that the first exchange takes no longer.

        A first exchange that takes long is likely to be parsed when the recorder is killed.
        """
        self._prices.warm()
        for api in APIS:
            read_request(b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}', Match(api))
            for data in (b"{", b'{"model": "m"}', b"data: {}\n\n"):
                read_response(data, api.kind, is_event_stream=False, complete=True)

    def bodies(self, exchange: JournalExchange, *, without_response: bool = False) -> Bodies:
        """Return the bodies of an exchange. This may wait for the store, and parses nothing.

        With ``without_response``, the response is empty, as if no byte of its body had arrived.
        """
        request = response = None
        if exchange.request_bytes <= MAX_BODY_BYTES:
            request = self._bytes(exchange.request)
        if without_response:
            response = b""
        elif exchange.response_bytes <= MAX_BODY_BYTES:
            response = self._bytes(exchange.response)
        return Bodies(request, response)

    def running(self, exchange: JournalExchange, bodies: Bodies | None, *, is_shown: bool = False) -> Running:
        """Return the current state of an open exchange.

        With ``is_shown``, include the headers, and the body bytes that have arrived so far. The log shows this content.
        Without ``bodies``, bodies are not parsed.
        """
        record, _ = self._record_of(exchange, _INTERRUPTED, bodies)
        record.outcome, record.failed = "open", _is_failed("open", record.method, record.status)
        record.ended_at = record.duration_ms = record.stream_ended = record.cost_reason = None
        if not is_shown:
            return Running(record=record)
        request, response = self._bytes(exchange.request), self._bytes(exchange.response)
        return Running(record=record, detail=_detail(exchange), request=request, response=response)

    def entry(self, exchange: JournalExchange, bodies: Bodies | None) -> Entry:
        """Return the entry of an ended exchange, without bodies if its log mode is ``no-bodies``.

        Without ``bodies``, bodies are stored but not parsed.
        """
        record, read = self._record_of(exchange, exchange.closed or _INTERRUPTED, bodies)
        detail = _detail(exchange)
        detail.exchange = _facts(exchange)
        entry = Entry(record=record, detail=detail, request=None, response=None)
        if exchange.opened.log == "full":
            entry.request, entry.response = exchange.request, exchange.response
            chain = _chain(read)
            entry.chain = None if chain is None else encode_chain(chain)
            entry.text = search_text(record, read.request, read.response)
        else:
            entry.text = search_text(record, None, None)
        return entry

    def _record_of(self, exchange: JournalExchange, closed: Closed, bodies: Bodies | None) -> tuple[Record, _Read]:
        try:
            return self._record(exchange, closed, bodies)
        except MemoryError:
            raise
        except Exception:  # a bug in Relaybook must not stop the recorder
            log.exception("body_not_read", extra={"id": id_text(exchange.id)})
        record, read = self._record(exchange, closed, None)
        record.notes = [DEFECT]
        return record, read

    def _record(self, exchange: JournalExchange, closed: Closed, bodies: Bodies | None) -> tuple[Record, _Read]:
        opened, begin = exchange.opened, exchange.response_begin
        target, _, query = opened.target.decode("latin-1").partition("?")
        method = opened.method.decode("latin-1")
        found = match(method, opened.api_path.decode("latin-1"))._replace(api=BY_KIND[opened.kind])
        started_us = opened.wall_ns // 1000
        ran_ns = exchange.last_ns - exchange.opened_ns
        status = begin.status if begin else None
        record = Record(
            id=id_text(exchange.id),
            started_at=started_us,
            ended_at=started_us + ran_ns // 1000,
            outcome=closed.outcome,
            failed=_is_failed(closed.outcome, method, status),
            namespace=opened.namespace,
            properties=opened.properties,
            warnings=_warnings(exchange),
            route=opened.route,
            upstream=opened.upstream,
            method=method,
            path=target,
            query=query,
            kind=opened.kind,
            client_address=opened.client_address,
            key=opened.key,
            status=status,
            error_code=closed.error_code,
            error_message=closed.error_message,
            duration_ms=ran_ns / 1e6,
            relay_ms=closed.relay_ns / 1e6 if closed.relay_ns is not None else None,
            chunks=exchange.chunks,
            request_bytes=exchange.request_bytes,
            response_bytes=exchange.response_bytes,
            body_state="stored" if opened.log == "full" else "no_bodies",
        )
        headers = _Headers(exchange, self._request_headers)
        headers.fill(record)
        read = _Read()
        if bodies is not None:
            read = self._read_bodies(record, exchange, bodies, found, headers, closed)
        else:
            record.notes = [_NOT_UNDERSTOOD]
            record.properties = self._sources.add(record.properties, record.route, headers.request, {})
            record.cost_reason = _cost_reason(record, exchange, found, None)
        if opened.log != "full":
            record.input_preview = record.output_preview = None
            if begin is not None and not begin.made:
                record.error_message = None
        return record, read

    def _read_bodies(
        self,
        record: Record,
        exchange: JournalExchange,
        bodies: Bodies,
        found: Match,
        headers: "_Headers",
        closed: Closed,
    ) -> _Read:
        request = self._read_request(record, exchange, bodies.request, found, headers)
        begin = exchange.response_begin
        reading = None
        if begin is not None and not begin.made:
            reading = self._read_response(record, exchange, bodies.response, found, headers)
            if reading is not None and found.api.is_read:
                self._fill_response(record, exchange, reading, request, closed)
        if record.cost_usd is None and record.cost_reason is None:
            record.cost_reason = _cost_reason(record, exchange, found, reading)
        parameters = request.parameters if request is not None else {}
        record.properties = self._sources.add(record.properties, record.route, headers.request, parameters)
        record.advice = [
            Note(item["code"], item["message"]) for item in advice(record.path, parameters, record.finish_reason)
        ]
        return _Read(request, reading.response if reading is not None and found.api.is_read else None)

    def _read_request(
        self, record: Record, exchange: JournalExchange, body: bytes | None, found: Match, headers: "_Headers"
    ) -> Request | None:
        if not found.api.is_read:
            record.input_preview = describe_body(headers.request.get(b"content-type", ""), exchange.request_bytes)
            return None
        data = _decoded("request", body, record, headers.request)
        request = read_request(data or b"", found)
        if data and not request.understood and exchange.request_end_ns is not None:
            record.notes.append(_unreadable("request", data))
        _fill_request(record, request)
        if found.operation in _IS_STREAMED:
            record.stream_requested = _IS_STREAMED[found.operation]
        elif not data and "stream=true" in record.query.split("&"):  # a stored response of the Responses API
            record.stream_requested = True
        preview = texts_preview if request.is_text_list else input_preview
        record.input_preview = preview(request.messages)
        return request

    def _read_response(
        self, record: Record, exchange: JournalExchange, body: bytes | None, found: Match, headers: "_Headers"
    ) -> Reading | None:
        """Read the response. Of a response whose API is not known, only an error and the first token are read."""
        content_type = headers.response.get(b"content-type", "")
        is_event_stream = content_type.lower().startswith("text/event-stream") or is_ndjson(content_type)
        record.stream = is_event_stream
        is_error = record.status is not None and record.status >= 400
        is_read = found.api.is_read
        if not is_read:
            record.output_preview = describe_body(content_type, exchange.response_bytes)
            if not (is_error or is_event_stream):
                return None
        data = _decoded("response", body, record, headers.response)
        if data is None or record.status in NO_CONTENT:
            return None
        if is_error:
            error = read_error(data, record.kind)
            record.error_code = record.error_code or error.code
            record.error_message = record.error_message or error.message
            return None
        complete = record.outcome == "complete"
        reading = read_response(data, record.kind, is_event_stream=is_event_stream, complete=complete)
        if is_read:
            record.stream = reading.is_stream
            if record.kind == "audio":
                audio.add_type(reading.response, content_type)
        if record.stream:
            is_plain = not headers.response.get(b"content-encoding", "").strip().lower().removeprefix("identity")
            record.first_token_ms = _first_token_ms(exchange, reading.first_token_end, is_plain=is_plain)
        return reading

    def _fill_response(
        self, record: Record, exchange: JournalExchange, reading: Reading, request: Request | None, closed: Closed
    ) -> None:
        response = reading.response
        record.notes += reading.notes
        record.response_model = clean_or_none(response.model)
        record.completion_id = stored_id(response.id) if response.id else None
        record.finish_reason = finish_reason(response)
        record.output_preview = output_preview(response)
        self._end(record, reading, request, closed)
        if response.error is not None:
            record.failed = True
            record.error_code = record.error_code or clean_or_none(response.error.code)
            record.error_message = record.error_message or clean_or_none(response.error.message, ERROR_CHARACTERS)
        if record.method != "GET" or response.other.get("background") is True:
            # A stored response states its tokens again. One that runs in the background states them only there.
            self._count(record, request, response)

    def _end(self, record: Record, reading: Reading, request: Request | None, closed: Closed) -> None:
        """Decide from the body whether the whole response arrived. The connection alone does not tell."""
        response = reading.response
        is_success = record.status is not None and record.status >= 200
        record.stream_ended = response.ending
        if record.outcome == "client_closed" and response.ending == "done" and not closed.client_missed:
            record.outcome = "complete"  # SDKs close the connection at [DONE], before the chunked framing ends
        elif record.outcome == "upstream_failed" and reading.has_end_mark and is_success:
            record.outcome, record.failed = "complete", False
            record.error_code = record.error_message = None
            record.notes.append(_CLOSED_EARLY)
        elif record.outcome == "upstream_failed" and response.ending == "cut":
            # The relay knows streams by their content type. Only their bytes tell for JSON lines and arrays.
            record.error_code = RelayError.UPSTREAM_STREAM_INTERRUPTED.code
        if record.outcome == "complete" and is_success and response.error is None:
            self._check(record, reading, request)

    def _check(self, record: Record, reading: Reading, request: Request | None) -> None:
        """Decide whether a response without an error is an answer that a client can use."""
        response = reading.response
        if response.ending == "no_done":
            record.failed, record.error_code = True, INCOMPLETE
            record.error_message = "The stream ended without its end marker and without a finish reason."
        elif any(note.code == "too_large_to_read" for note in reading.notes):
            return
        elif request is not None and request.parameters.get("deferred") is True:
            return  # the response of xAI has only an id, with which the client asks for the completion later
        elif request is not None and request.is_conversation and not (reading.is_known and response.outputs):
            note = reading.notes[0] if reading.notes else Note(NOT_UNDERSTOOD, "The response has no output.")
            if not reading.notes:
                record.notes.append(note)
            record.failed, record.error_code, record.error_message = True, NOT_UNDERSTOOD, note.message
        elif any(_has_broken_arguments(part) for output in response.outputs for part in output.parts):
            record.notes.append(_BROKEN_ARGUMENTS)

    def _bytes(self, body: Body) -> bytes:
        """Return the whole body, including bytes that were moved to the store."""
        if body.refs:
            return b"".join([*map(self._read_body, body.refs), *body.rest])
        return body.rest[0] if len(body.rest) == 1 else b"".join(body.rest)

    def _count(self, record: Record, request: Request | None, response: Response) -> None:
        """Set the tokens and the cost of the record. Token counts that the response lacks are estimated."""
        usage = response.usage or {}
        counts = counts_of(usage, record.kind, response.model)
        if counts.is_empty and not stated_usd(usage) and characters(response):
            usage, counts = {}, counts_of({})
        if request is not None and request.is_conversation and counts.tokens.output is None:
            generated = characters(response)
            is_cut = response.model is not None and response.ending in ("no_done", "cut")
            if generated or is_cut:
                record.tokens_estimated = True
                counts = counts._replace(tokens=_estimated(counts.tokens, request, generated))
        tokens = counts.tokens
        record.input_tokens, record.output_tokens, record.cached_tokens, record.reasoning_tokens = tokens
        if usage or record.tokens_estimated:
            cost = self._prices.cost(
                record.upstream,
                record.model,
                record.response_model,
                usage,
                billed_counts(usage, counts),
                response.tier,
                record.started_at,
                record.route,
            )
            record.cost_usd, record.prices_version, record.cost_reason = cost


def _is_failed(outcome: str, method: str, status: int | None) -> bool:
    if outcome in ("upstream_failed", "interrupted", "refused"):
        return True
    is_probe = method == "HEAD" and status in PROBE_STATUSES
    return status is not None and status >= 400 and not is_probe


def _cost_reason(record: Record, exchange: JournalExchange, found: Match, reading: Reading | None) -> CostReason | None:
    """Return the reason why the response has no counts to compute a cost from.

    `None` if the request cannot cost anything.
    """
    begin = exchange.response_begin
    if record.method != "POST":
        return None
    if begin is None or begin.made:
        return "no_response"
    if begin.status >= 300:
        return "error_response"
    if not found.api.is_read:
        return "api_not_read"
    if reading is None:
        return "no_usage" if record.status in NO_CONTENT else "body_not_read"
    if any(note.code in _UNREAD for note in reading.notes):
        return "body_not_read"
    if reading.response.error is not None:
        return "error_response"
    return None if found.is_free else "no_usage"


def _decoded(side: Side, body: bytes | None, record: Record, headers: dict[bytes, str]) -> bytes | None:
    """Return a body without its content codings. `None` if it cannot be read; a note says why."""
    if body is None:
        record.notes.append(_too_large(side))
        return None
    encoding = headers.get(b"content-encoding")
    decoded = decode_body(body, encoding)
    if decoded.state == "too_large":
        record.notes.append(_too_large(side, is_decoded=True))
    elif decoded.state == "undecodable":
        text = f"The {side} has the content encoding {encoding}, which cannot be decoded."
        record.notes.append(Note("unknown_encoding", text))
    elif decoded.state == "mislabeled":
        named = f"the content encoding {encoding}" if encoding else "no content encoding"
        record.notes.append(Note("wrong_encoding", f"The {side} says {named}, which does not fit its bytes."))
    return decoded.data if decoded.is_readable else None


def _chain(read: _Read) -> MessageChain | None:
    return None if read.request is None else build_chain(read.request, read.response)


def _estimated(tokens: Tokens, request: Request, generated: int) -> Tokens:
    """Return the tokens with an estimate of those that are unknown. ``generated`` is the number of characters."""
    input_tokens = tokens.input
    if input_tokens is None:
        texts = (part.text or "" for message in request.messages for part in message.parts)
        input_tokens = estimate_tokens(sum(map(len, texts)))
    return tokens._replace(input=input_tokens, output=estimate_tokens(generated))


def _has_broken_arguments(part: Part) -> bool:
    """Return whether a part is a call of a function whose arguments are not JSON. Custom tools take any text."""
    if part.kind != "tool_call" or part.type is not None or not (part.arguments or "").strip():
        return False
    return lenient.load((part.arguments or "").encode(errors="replace")) is None


def _too_large(side: Side, *, is_decoded: bool = False) -> Note:
    """``is_decoded`` tells whether only the decoded body is too large."""
    limit = f"{MAX_BODY_BYTES >> 20} MiB"
    size = f"decodes to over {limit}, or to over 100 times its size" if is_decoded else f"exceeds {limit}"
    return Note("too_large_to_read", f"The {side} {size}, so it was not read.")


def _unreadable(side: Side, data: bytes) -> Note:
    if lenient.is_too_much(data):
        return Note("too_large_to_read", f"The {side} has more than a million objects and lists, so it was not read.")
    return Note("not_json", f"The {side} is not a JSON object.")


class _Headers:
    """The request and response headers that ``EntryBuilder`` uses."""

    __slots__ = ("request", "response")

    def __init__(self, exchange: JournalExchange, request_headers: frozenset[bytes]) -> None:
        begin = exchange.response_begin
        response = begin.head if begin is not None and not begin.made else b""
        self.request = _matching_headers(request_headers, exchange.opened.head)
        self.response = _matching_headers(_RESPONSE_HEADERS, response)

    def fill(self, record: Record) -> None:
        """Set the fields that come from headers."""
        request, response = self.request, self.response
        record.user_agent = request.get(b"user-agent")
        record.client_request_id = request.get(b"x-client-request-id")
        record.provider_request_id = next((response[name] for name in _REQUEST_ID_HEADERS if name in response), None)
        retry = request.get(b"x-stainless-retry-count", "")
        if retry.isascii() and retry.isdigit() and len(retry) < 8:
            record.retry_count = min(int(retry), _MAX_RETRIES)
        trace = _TRACE.fullmatch(request.get(b"traceparent", ""))
        if trace is not None:
            record.trace_id = trace[1]
        if not _CLIENT_NAMES.isdisjoint(request):
            self._fill_client(record)

    def _fill_client(self, record: Record) -> None:
        """Set the fields and properties with which the client identifies itself."""
        record.session, record.user = self._of_client("session"), self._of_client("user")
        agents = [(name, self._of_client(meaning)) for meaning, name in _AGENT_PROPERTIES.items()]
        sent = [(name, value) for name, value in agents if value is not None]
        record.properties, _ = with_metadata(record.properties, sent)

    def _of_client(self, meaning: Meaning) -> str | None:
        """Return the first value with which the client identifies itself in a header."""
        return next((value for name in _CLIENT_HEADERS[meaning] if (value := self.request.get(name))), None)


def _detail(exchange: JournalExchange) -> Detail:
    begin = exchange.response_begin
    return Detail(
        reason=begin.reason.decode("latin-1") if begin else "",
        request_head=exchange.opened.head,
        response_head=begin.head if begin else b"",
        chunk_at_us=exchange.chunk_at_us,
        chunk_bytes=exchange.chunk_bytes,
    )


def _facts(exchange: JournalExchange) -> ExchangeFacts:
    closed, begin = exchange.closed or _INTERRUPTED, exchange.response_begin
    return ExchangeFacts(
        outcome=closed.outcome,
        error_code=closed.error_code,
        error_message=closed.error_message,
        api_path=exchange.opened.api_path.decode("latin-1"),
        properties=exchange.opened.properties,
        warnings=_warnings(exchange),
        has_whole_request=exchange.request_end_ns is not None,
        client_missed=closed.client_missed,
        is_relay_response=begin is not None and begin.made,
    )


def _warnings(exchange: JournalExchange) -> list[Note]:
    """Return the warnings about the request's headers."""
    return [Note(code, message) for code, message in exchange.opened.warnings]


def _matching_headers(names: frozenset[bytes], head: bytes) -> dict[bytes, str]:
    """Return the headers in ``names``, by lower-case name.

    If a header is repeated, its first value is returned. ``Content-Encoding`` is the exception: all its values are
    joined (RFC 9110 §5.3). Values are read and shortened like the values of tags, so that ids are stored as in
    ``record.stored_id``.
    """
    matching: dict[bytes, str] = {}
    for line in head.split(b"\r\n"):
        sent_name, _, value = line.partition(b":")
        name = sent_name.lower()
        if name not in names:
            continue
        text = shortened(header_text(value.lstrip(b" \t"))[0].rstrip())
        is_more = name == b"content-encoding" and name in matching
        matching[name] = f"{matching[name]}, {text}" if is_more else matching.get(name, text)
    return matching


def _fill_request(record: Record, request: Request) -> None:
    parameters = request.parameters
    record.model = clean_or_none(request.model)
    record.stream_requested = request.stream
    record.user = clean_or_none(request.user) or record.user
    session = (request.session or "").strip()
    record.session = record.session or (stored_id(session) if session else None)
    for name in ("safety_identifier", "prompt_cache_key"):
        value = parameters.get(name)
        setattr(record, name, clean_or_none(value) if isinstance(value, str) else None)
    if request.metadata:
        record.properties, warnings = with_metadata(record.properties, request.metadata.items())
        record.warnings = [*record.warnings, *(Note(code, message) for code, message in warnings)]


def _first_token_ms(exchange: JournalExchange, end: int | None, *, is_plain: bool) -> float | None:
    """Return the time at which the first event with a token was complete, in ms since the OPENED frame.

    For a compressed stream, return the time of the first bytes. `None` if there is no token.
    """
    if not exchange.chunk_at_us:
        return None
    if not is_plain:
        return exchange.chunk_at_us[0] / 1e3
    if end is None:
        return None
    for at_us, size in zip(exchange.chunk_at_us, exchange.chunk_bytes, strict=True):
        end -= size
        if end <= 0:
            return at_us / 1e3
    return None
