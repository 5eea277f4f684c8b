"""Convert an exchange into a log entry with its outcome, its cost, and facts about the request and the response.

Bodies up to 16 MiB are parsed. Larger bodies are only stored. If a body is malformed, fields that cannot be determined
are `None`. This module reads no clock and opens no file.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from relaybook.ids import id_text
from relaybook.journal.events import Closed
from relaybook.kinds import Kind, kind_of
from relaybook.log import formats
from relaybook.log.record import Detail, Note, Record
from relaybook.log.request_view import MAX_BODY_BYTES, decode_body
from relaybook.log.store.port import Body, BodyRef, Entry, Running
from relaybook.recorder.fold import Exchange
from relaybook.recorder.prices import Prices
from relaybook.tags import MAX_CHARACTERS, MAX_PROPERTIES, clean

_REQUEST_HEADERS: Final = re.compile(
    rb"(?i)(?:^|\r\n)(user-agent|content-type|content-encoding|x-client-request-id|x-stainless-retry-count|traceparent):"
    rb"[ \t]*([^\r]*)"
)
_REQUEST_ID_HEADERS: Final = tuple(name.encode() for name in formats.REQUEST_ID_HEADERS)
_RESPONSE_HEADERS: Final = re.compile(
    rb"(?i)(?:^|\r\n)(content-type|content-encoding|%b):[ \t]*([^\r]*)" % b"|".join(_REQUEST_ID_HEADERS)
)
_TRACE: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")
_NOT_UNDERSTOOD: Final = Note(
    "not_understood",
    "The recorder crashed twice while parsing these bodies, so they are stored without being parsed.",
)
_MAX_RETRIES: Final = 1_000_000

ReadBody = Callable[[BodyRef], bytes]


class EntryBuilder:
    """Converts each exchange into an ``Entry``. ``read_body`` reads back body bytes that were moved to the store."""

    def __init__(self, prices: Prices, read_body: ReadBody) -> None:
        self._prices = prices
        self._read_body = read_body

    def running(self, exchange: Exchange, *, read_bodies: bool = True, is_shown: bool = False) -> Running:
        """Return the current state of an open exchange.

        With ``is_shown``, include the headers, and the body bytes that have arrived so far. The log shows this content.
        Without ``read_bodies``, bodies are not parsed.
        """
        record, _ = self._record(exchange, Closed("interrupted"), _headers(exchange), read_bodies=read_bodies)
        record.outcome, record.failed = "open", bool(record.status and record.status >= 400)
        record.ended_at = record.duration_ms = record.stream_ended = None
        if not is_shown:
            return Running(record=record)
        request, response = self._bytes(exchange.request), self._bytes(exchange.response)
        return Running(record=record, detail=_detail(exchange), request=request, response=response)

    def entry(self, exchange: Exchange, *, read_bodies: bool = True) -> Entry:
        """Return the entry of an ended exchange, without bodies if its log mode is ``no-bodies``.

        Without ``read_bodies``, bodies are stored but not parsed.
        """
        closed = exchange.closed or Closed("interrupted")
        headers = _headers(exchange)
        record, chain = self._record(exchange, closed, headers, read_bodies=read_bodies)
        keep = exchange.opened.log == "full"
        return Entry(
            record=record,
            detail=_detail(exchange),
            request=exchange.request if keep else None,
            response=exchange.response if keep else None,
            chain=formats.encode_chain(chain) if chain is not None and keep else None,
        )

    def _record(
        self, exchange: Exchange, closed: Closed, headers: "_Headers", *, read_bodies: bool = True
    ) -> tuple[Record, formats.MessageChain | None]:
        opened, answered = exchange.opened, exchange.answered
        target, _, query = opened.target.decode("latin-1").partition("?")
        kind = kind_of(_below_route(target))
        started_us = opened.wall_ns // 1000
        ran_ns = exchange.last_ns - exchange.opened_ns
        status = answered.status if answered else None
        record = Record(
            id=id_text(exchange.id),
            started_at=started_us,
            ended_at=started_us + ran_ns // 1000,
            outcome=closed.outcome,
            failed=closed.outcome in ("upstream_failed", "interrupted", "refused") or bool(status and status >= 400),
            namespace=opened.namespace,
            properties=opened.properties,
            warnings=[Note(code, message) for code, message in opened.warnings] if opened.warnings else [],
            route=opened.route,
            upstream=opened.upstream,
            method=opened.method.decode("latin-1"),
            path=target,
            query=query,
            kind=kind,
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
        headers.fill(record)
        chain = None
        if read_bodies:
            chain = self._read_bodies(record, exchange, closed, headers)
        else:
            record.advice = [_NOT_UNDERSTOOD]
        if opened.log != "full":
            record.input_preview = record.output_preview = None
            if answered is not None and not answered.made:
                record.error_message = None
        return record, chain

    def _read_bodies(
        self, record: Record, exchange: Exchange, closed: Closed, headers: "_Headers"
    ) -> formats.MessageChain | None:
        kind = record.kind
        is_parsed = formats.format_of(kind) is not None
        request = formats.RequestFacts()
        request_body = b""
        if is_parsed:
            request_body = self._readable(
                exchange.request, exchange.request_bytes, headers.request.get(b"content-encoding")
            )
            request = formats.read_request(kind, request_body)
            _fill_request(record, request)
        else:
            record.input_preview = formats.describe_body(
                headers.request.get(b"content-type", ""), exchange.request_bytes
            )
        answered = exchange.answered
        if answered is None or answered.made:
            record.advice = _advice(record, request, formats.ResponseFacts())
            return formats.build_chain(request.message_hashes, []) if request.message_hashes else None
        encoding = headers.response.get(b"content-encoding")
        data = self._readable(exchange.response, exchange.response_bytes, encoding)
        complete = record.outcome == "complete"
        response = formats.read_response(kind, data, streamed=record.stream, complete=complete)
        _fill_response(record, response)
        if not is_parsed:
            record.output_preview = formats.describe_body(
                headers.response.get(b"content-type", ""), exchange.response_bytes
            )
        if answered.status >= 400:
            code, message = formats.read_error(data)
            record.error_code = record.error_code or code
            record.error_message = record.error_message or message
        if record.stream:
            record.stream_ended = response.stream_ended if complete or response.stream_ended == "done" else "cut"
            if record.outcome == "client_closed" and record.stream_ended == "done" and not closed.client_missed:
                record.outcome = "complete"  # SDKs close the connection at [DONE], before the chunked framing ends
            record.first_token_ms = _first_token_ms(exchange, kind, data, plain=encoding in (None, "identity"))
        if response.understood and answered.status < 400:
            self._count(record, request_body, response)
        record.advice = _advice(record, request, response)
        return formats.build_chain(request.message_hashes, response.output_keys) if request.message_hashes else None

    def _readable(self, body: Body, size: int, encoding: str | None) -> bytes:
        """Return the decoded body, or empty bytes if the body is too large or cannot be decoded."""
        if size == 0 or size > MAX_BODY_BYTES:
            return b""
        return decode_body(self._bytes(body), encoding) or b""

    def _bytes(self, body: Body) -> bytes:
        """Return the whole body, including bytes that were moved to the store."""
        if body.refs:
            return b"".join([*map(self._read_body, body.refs), *body.rest])
        return body.rest[0] if len(body.rest) == 1 else b"".join(body.rest)

    def _count(self, record: Record, request_body: bytes, response: formats.ResponseFacts) -> None:
        """Set the cost of the record. If the response lacks token counts, first estimate the tokens of the record.

        If tokens are estimated, ``tokens_estimated`` is set.
        """
        if formats.estimate_usage(record.kind, response, request_body):
            record.tokens_estimated = True
            record.input_tokens, record.output_tokens = response.input_tokens, response.output_tokens
        if response.usage is not None and (record.response_model or record.model) is not None:
            record.cost_usd, record.prices_version = self._prices.cost(
                record.upstream,
                record.model,
                record.response_model,
                response.usage,
                response.service_tier,
                record.started_at,
            )


class _Headers:
    """The request and response headers that ``EntryBuilder`` uses."""

    __slots__ = ("request", "response")

    def __init__(self, request: bytes, response: bytes) -> None:
        self.request = _matching_headers(_REQUEST_HEADERS, request)
        self.response = _matching_headers(_RESPONSE_HEADERS, response)

    def fill(self, record: Record) -> None:
        """Set the fields that come from headers."""
        request, response = self.request, self.response
        record.user_agent = request.get(b"user-agent")
        record.client_request_id = request.get(b"x-client-request-id")
        record.provider_request_id = next((response[name] for name in _REQUEST_ID_HEADERS if name in response), None)
        record.stream = response.get(b"content-type", "").lower().startswith("text/event-stream")
        retry = request.get(b"x-stainless-retry-count", "")
        if retry.isascii() and retry.isdigit() and len(retry) < 8:
            record.retry_count = min(int(retry), _MAX_RETRIES)
        trace = _TRACE.fullmatch(request.get(b"traceparent", ""))
        if trace is not None:
            record.trace_id = trace[1]


def _detail(exchange: Exchange) -> Detail:
    answered = exchange.answered
    return Detail(
        reason=answered.reason.decode("latin-1") if answered else "",
        request_head=exchange.opened.head,
        response_head=answered.head if answered else b"",
        chunk_at_us=exchange.chunk_at_us,
        chunk_bytes=exchange.chunk_bytes,
    )


def _matching_headers(names: re.Pattern[bytes], head: bytes) -> dict[bytes, str]:
    """Return the headers that match ``names``, by lower-case name.

    If a header is repeated, its first value is returned. ``Content-Encoding`` is the exception: all its values are
    joined (RFC 9110 §5.3).
    """
    matching: dict[bytes, str] = {}
    for raw_name, value in names.findall(head):
        name, text = raw_name.lower(), value.decode(errors="replace")[:MAX_CHARACTERS].rstrip()
        is_more = name == b"content-encoding" and name in matching
        matching[name] = f"{matching[name]}, {text}" if is_more else matching.get(name, text)
    return matching


def _headers(exchange: Exchange) -> _Headers:
    answered = exchange.answered
    return _Headers(exchange.opened.head, answered.head if answered is not None and not answered.made else b"")


def _below_route(path: str) -> str:
    """Return the path after the first ``/v1``."""
    return path.partition("/v1")[2]


def _fill_request(record: Record, facts: formats.RequestFacts) -> None:
    record.model = facts.model
    record.stream_requested = facts.stream_requested
    record.user = facts.user
    record.safety_identifier = facts.safety_identifier
    record.prompt_cache_key = facts.prompt_cache_key
    record.input_preview = facts.input_preview
    if facts.metadata:
        record.properties = _with_metadata(record.properties, facts.metadata.items())


def _with_metadata(properties: dict[str, str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the properties plus the body's metadata, up to ``MAX_PROPERTIES`` in total.

    Names and values of the metadata are cleaned like tags. Metadata with the name of a property is dropped.
    """
    merged = dict(properties)
    for name, value in pairs:
        if len(merged) < MAX_PROPERTIES:
            key = clean(name.lower().replace("_", "-").replace("%", "%25").encode()).text
            merged.setdefault(key, clean(value.replace("%", "%25").encode()).text)
    return merged


def _fill_response(record: Record, facts: formats.ResponseFacts) -> None:
    record.response_model = facts.response_model
    record.completion_id = facts.completion_id
    record.finish_reason = facts.finish_reason
    record.input_tokens = facts.input_tokens
    record.output_tokens = facts.output_tokens
    record.cached_tokens = facts.cached_tokens
    record.reasoning_tokens = facts.reasoning_tokens
    record.output_preview = facts.output_preview
    record.error_code = record.error_code or facts.error_code
    record.error_message = record.error_message or facts.error_message
    record.failed = record.failed or facts.has_error


def _first_token_ms(exchange: Exchange, kind: Kind, data: bytes, *, plain: bool) -> float | None:
    """Return the time at which the first event with a token was complete, in ms since the OPENED frame.

    For a compressed stream, return the time of the first bytes. `None` if there is no token.
    """
    if not exchange.chunk_at_us:
        return None
    if not plain:
        return exchange.chunk_at_us[0] / 1e3
    end = formats.first_token_offset(data, kind)
    if end is None:
        return None
    for at_us, size in zip(exchange.chunk_at_us, exchange.chunk_bytes, strict=True):
        end -= size
        if end <= 0:
            return at_us / 1e3
    return None


def _advice(record: Record, request: formats.RequestFacts, response: formats.ResponseFacts) -> list[Note]:
    return [Note(item["code"], item["message"]) for item in formats.advice(record.path, request, response)]
