"""Turns an exchange into an entry of the log: what it was, what it cost, how it ended.

Reads bodies up to 16 MiB; larger ones are stored and not understood. Whatever the bytes are, there is an entry: what
cannot be read stays None. Reads no clock and opens no file.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from relaybook.ids import id_text
from relaybook.journal.events import Closed
from relaybook.kinds import Kind, kind_of
from relaybook.log import formats
from relaybook.log.record import Detail, Note, Record
from relaybook.log.store.port import Body, Entry, Extent, Running
from relaybook.recorder.fold import Exchange
from relaybook.recorder.prices import Prices
from relaybook.tags import MAX_CHARACTERS, MAX_PROPERTIES, clean

MAX_UNDERSTOOD_BYTES: Final = 16 << 20
_ASKED: Final = re.compile(
    rb"(?i)(?:^|\r\n)(user-agent|content-type|content-encoding|x-client-request-id|x-stainless-retry-count|traceparent):"
    rb"[ \t]*([^\r]*)"
)
_GOT: Final = re.compile(rb"(?i)(?:^|\r\n)(content-type|content-encoding|x-request-id):[ \t]*([^\r]*)")
_TRACE: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")
_UNDERSTOOD: Final = ("chat", "completion", "response", "embedding")
_NOT_UNDERSTOOD: Final = Note(
    "not_understood",
    "Reading these bodies ended the recorder twice, so they are stored and nothing is read out of them.",
)
_MOST_RETRIES: Final = 1_000_000

ReadExtent = Callable[[Extent], bytes]


class Understanding:
    """What entries are made with: prices, and a way to read back what was set aside."""

    def __init__(self, prices: Prices, read_extent: ReadExtent) -> None:
        self._prices = prices
        self._read_extent = read_extent

    def running(self, exchange: Exchange, *, read_bodies: bool = True, is_shown: bool = False) -> Running:
        """An exchange that is still open: what can be told of it now; with its bytes so far where it is shown."""
        record, _ = self._record(exchange, Closed("interrupted"), _headers(exchange), read_bodies=read_bodies)
        record.outcome, record.failed = "open", bool(record.status and record.status >= 400)
        record.ended_at = record.duration_ms = record.stream_ended = None
        if not is_shown:
            return Running(record=record)
        request, response = self._bytes(exchange.request), self._bytes(exchange.response)
        return Running(record=record, detail=_detail(exchange), request=request, response=response)

    def entry(self, exchange: Exchange, *, read_bodies: bool = True) -> Entry:
        """The finished exchange as an entry; its bodies are left out where the caller asked for it.

        Without ``read_bodies`` they are stored and nothing is read out of them.
        """
        closed = exchange.closed or Closed("interrupted")
        headers = _headers(exchange)
        record, turn = self._record(exchange, closed, headers, read_bodies=read_bodies)
        keep = exchange.opened.log == "full"
        return Entry(
            record=record,
            detail=_detail(exchange),
            request=exchange.request if keep else None,
            response=exchange.response if keep else None,
            turn=formats.encode_chain(turn) if turn is not None and keep else None,
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
        turn = None
        if read_bodies:
            turn = self._read_bodies(record, exchange, headers)
        else:
            record.advice = [_NOT_UNDERSTOOD]
        if opened.log != "full":
            record.input_preview = record.output_preview = None
            if answered is not None and not answered.made:
                record.error_message = None
        return record, turn

    def _read_bodies(self, record: Record, exchange: Exchange, headers: "_Headers") -> formats.MessageChain | None:
        kind = record.kind
        request = formats.RequestFacts()
        asked = b""
        if kind in _UNDERSTOOD:
            asked = self._readable(exchange.request, exchange.request_bytes, headers.request.get(b"content-encoding"))
            request = formats.read_request(kind, asked)
            _fill_request(record, request)
        else:
            record.input_preview = formats.body_words(headers.request.get(b"content-type", ""), exchange.request_bytes)
        answered = exchange.answered
        if answered is None or answered.made:
            record.advice = _advice(record, request, formats.ResponseFacts())
            return formats.turn(request.asked, []) if request.asked else None
        encoding = headers.response.get(b"content-encoding")
        data = self._readable(exchange.response, exchange.response_bytes, encoding)
        complete = record.outcome == "complete"
        answer = formats.read_response(kind, data, streamed=record.stream, complete=complete)
        _fill_answer(record, answer)
        if kind not in _UNDERSTOOD:
            record.output_preview = formats.body_words(
                headers.response.get(b"content-type", ""), exchange.response_bytes
            )
        if answered.status >= 400:
            code, message = formats.read_error(data)
            record.error_code = record.error_code or code
            record.error_message = record.error_message or message
        if record.stream:
            record.stream_ended = answer.stream_ended if complete or answer.stream_ended == "done" else "cut"
            if record.outcome == "client_closed" and record.stream_ended == "done":
                record.outcome = "complete"  # SDKs close at [DONE], before the end of the framing: nothing was missed
            record.first_token_ms = _first_token_ms(exchange, kind, data, plain=encoding is None)
        if answer.understood and answered.status < 400:
            self._count(record, asked, answer)
        record.advice = _advice(record, request, answer)
        return formats.turn(request.asked, answer.said) if request.asked else None

    def _readable(self, body: Body, size: int, encoding: str | None) -> bytes:
        """The body's bytes, decoded; empty when it is too large to be understood."""
        if size == 0 or size > MAX_UNDERSTOOD_BYTES:
            return b""
        data = self._bytes(body)
        return formats.decode(data, encoding).data if encoding else data

    def _bytes(self, body: Body) -> bytes:
        """All of a body, what was set aside read back."""
        if body.extents:
            return b"".join([*map(self._read_extent, body.extents), *body.rest])
        return body.rest[0] if len(body.rest) == 1 else b"".join(body.rest)

    def _count(self, record: Record, asked: bytes, answer: formats.ResponseFacts) -> None:
        """Tokens and cost: the provider's count, or an estimate that says so."""
        model = record.response_model or record.model
        if answer.usage is None and record.kind == "chat":
            record.tokens_estimated = True
            record.output_tokens = formats.estimate_tokens(answer.output_characters)
            record.input_tokens = formats.estimate_tokens(_characters(asked))
            usage: formats.Usage | None = {
                "prompt_tokens": record.input_tokens,
                "completion_tokens": record.output_tokens,
            }
        else:
            usage = answer.usage
        if usage is not None and model is not None:
            record.cost_usd, record.prices_version = self._prices.cost(
                record.upstream, record.model, record.response_model, usage, answer.service_tier, record.started_at
            )


class _Headers:
    """The few headers that become fields."""

    __slots__ = ("request", "response")

    def __init__(self, request: bytes, response: bytes) -> None:
        self.request = _wanted(_ASKED, request)
        self.response = _wanted(_GOT, response)

    def fill(self, record: Record) -> None:
        """Sets the fields that come from headers."""
        asked, got = self.request, self.response
        record.user_agent = asked.get(b"user-agent")
        record.client_request_id = asked.get(b"x-client-request-id")
        record.provider_request_id = got.get(b"x-request-id")
        record.stream = got.get(b"content-type", "").lower().startswith("text/event-stream")
        retry = asked.get(b"x-stainless-retry-count", "")
        if retry.isascii() and retry.isdigit() and len(retry) < 8:
            record.retry_count = min(int(retry), _MOST_RETRIES)
        trace = _TRACE.fullmatch(asked.get(b"traceparent", ""))
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


def _wanted(names: re.Pattern[bytes], head: bytes) -> dict[bytes, str]:
    """Wanted headers by lower-case name; of a repeated one the first, of codings all (RFC 9110 §5.3)."""
    found: dict[bytes, str] = {}
    for raw_name, value in names.findall(head):
        name, text = raw_name.lower(), value.decode(errors="replace")[:MAX_CHARACTERS].rstrip()
        is_more = name == b"content-encoding" and name in found
        found[name] = f"{found[name]}, {text}" if is_more else found.get(name, text)
    return found


def _characters(request: bytes) -> int:
    """Characters of all messages' text: what input tokens are estimated from."""
    return sum(len(message.get("text") or "") for message in formats.messages(request))


def _headers(exchange: Exchange) -> _Headers:
    answered = exchange.answered
    return _Headers(exchange.opened.head, answered.head if answered is not None and not answered.made else b"")


def _below_route(path: str) -> str:
    """The path below ``/v1`` or ``/<route>/v1``."""
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
    """Properties with the body's metadata added by the rules for tags; a header of the same name wins."""
    merged = dict(properties)
    for name, value in pairs:
        if len(merged) < MAX_PROPERTIES:
            key = clean(name.lower().replace("_", "-").replace("%", "%25").encode()).text
            merged.setdefault(key, clean(value.replace("%", "%25").encode()).text)
    return merged


def _fill_answer(record: Record, facts: formats.ResponseFacts) -> None:
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
    record.failed = record.failed or facts.error_in_stream


def _first_token_ms(exchange: Exchange, kind: Kind, data: bytes, *, plain: bool) -> float | None:
    """When the read came that completed the first event with a token; of a compressed stream its first bytes."""
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


def _advice(record: Record, request: formats.RequestFacts, answer: formats.ResponseFacts) -> list[Note]:
    return [Note(remark["code"], remark["message"]) for remark in formats.advice(record.path, request, answer)]
