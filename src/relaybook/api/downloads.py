"""Hands out the stored body of one request as a file that no browser will run or show as a page."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from relaybook.api import arguments, document
from relaybook.api.detail import content_encoding, look_up
from relaybook.api.errors import ApiError
from relaybook.api.reading import Reading, reading_of
from relaybook.api.routes import Routes
from relaybook.log.formats import decode
from relaybook.log.query.filters import BadFilter
from relaybook.log.record import Record, Side
from relaybook.log.store.port import Reader, Stored

routes = Routes("log")

#: Compressed bodies are decoded in memory, up to this size before and after.
MAX_DECODED_BYTES: Final = 32 << 20
_TEXTUAL = re.compile(r"text/.*|.*[/+](json|xml)|.*(html|svg|javascript|ndjson|jsonl|event-stream|urlencoded).*")
_UNSAFE = re.compile(r"[^A-Za-z0-9-]")

_PARAMETERS = [
    document.parameter("id", "Relaybook's id, or the upstream's, completion's or client's id.", place="path"),
    document.parameter("as", "`sent` returns the bytes as transferred, without decoding.", {"enum": ["sent"]}),
]


@routes.get("/api/requests/{id}/request", document.reads(None, _PARAMETERS, "text/plain"))
async def get_request_body(request: Request) -> Response:
    """Return the stored request body as an attachment, with its content encoding decoded."""
    return await _download(request, "request")


@routes.get("/api/requests/{id}/response", document.reads(None, _PARAMETERS, "text/plain"))
async def get_response_body(request: Request) -> Response:
    """Return the stored response body as an attachment, with its content encoding decoded."""
    return await _download(request, "response")


async def _download(request: Request, side: Side) -> Response:
    form = arguments.only(arguments.pairs_of(request), "as").get("as")
    if form not in (None, "sent"):
        raise BadFilter("as", f"as is {form[:80]!r}: it takes sent, or leave it out for the decoded body.")
    reading, any_id = reading_of(request), request.path_params["id"]

    def question(reader: Reader) -> tuple[Record, str, bytes, Iterator[bytes]]:
        stored = look_up(reader, any_id).stored
        pieces = reader.body(stored.record.id, side)
        if pieces is None:
            raise _why_missing(stored.record)
        headers = stored.detail.request_headers if side == "request" else stored.detail.response_headers
        coding = content_encoding(headers)
        if coding and form is None:
            pieces = iter([_decoded(stored, side, pieces, coding)])
        is_text = _is_textual(headers) and not (coding and form)
        # The first piece is read here, so that a store that fails is told in the status.
        return stored.record, "text" if is_text else "binary", next(pieces, b""), pieces

    record, kind, first, rest = await reading.ask(question)
    suffix = {"text": "txt", "binary": "bin"}[kind]
    name = f"{_UNSAFE.sub('_', record.id)[:64]}-{side}.{suffix}"
    return StreamingResponse(
        _stream(reading, first, rest),
        media_type="text/plain; charset=utf-8" if kind == "text" else "application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _stream(reading: Reading, first: bytes, rest: Iterator[bytes]) -> AsyncIterator[bytes]:
    piece: bytes | None = first
    while piece is not None:
        yield piece
        piece = await reading.ask(lambda _: next(rest, None))


def _decoded(stored: Stored, side: Side, pieces: Iterator[bytes], coding: str) -> bytes:
    size = stored.request_size if side == "request" else stored.response_size
    if (size or 0) <= MAX_DECODED_BYTES:
        decoded = decode(b"".join(pieces), coding, limit=MAX_DECODED_BYTES)
        if decoded.state not in ("too_large", "undecodable"):
            return decoded.data
    raise ApiError(
        "not_decodable",
        f"The body's content coding {coding[:80]!r} cannot be undone here (unknown, broken, or over"
        f" {MAX_DECODED_BYTES >> 20} MiB): add ?as=sent for the bytes that crossed.",
        "as",
    )


def _is_textual(headers: list[tuple[str, str]]) -> bool:
    types = [value for name, value in headers if name.lower() == "content-type"]
    return bool(types) and _TEXTUAL.fullmatch(types[0].partition(";")[0].strip().lower()) is not None


def _why_missing(record: Record) -> ApiError:
    if record.outcome == "open":
        return ApiError("still_running", "The request is still running; its bodies can be read once it has ended.")
    if record.body_state == "no_bodies":
        return ApiError(
            "no_bodies", "Not stored: this request was logged without bodies (setting log, or header Service-Log)."
        )
    if record.body_state == "expired":
        return ApiError(
            "expired",
            "No longer stored: the file below store/bodies that had the body is gone from the data directory.",
        )
    return ApiError("not_found", "This request has no such body.")
