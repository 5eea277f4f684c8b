"""Serve stored bodies as attachments that browsers neither execute nor display as a page."""

import re
from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.detail import detail_response
from relaybook.api.errors import ApiError
from relaybook.api.routes import Routes
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.detail import RequestNotFound
from relaybook.log.query.filters import BadFilter
from relaybook.log.record import Record, Side
from relaybook.log.request_view import MAX_BODY_BYTES, RequestView

routes = Routes("log")

_TEXTUAL = re.compile(r"text/.*|.*[/+](json|xml)|.*(html|svg|javascript|ndjson|jsonl|event-stream|urlencoded).*")
_UNSAFE = re.compile(r"[^A-Za-z0-9-]")

_PARAMETERS = [
    openapi.ANY_ID,
    openapi.parameter("as", "`sent`: return the bytes as transferred, without decoding.", {"enum": ["sent"]}),
]


@routes.get("/api/requests/{id:path}/request", openapi.describe(None, _PARAMETERS, "text/plain"))
async def get_request_body(request: Request) -> Response:
    """Return the stored request body as an attachment. By default, the content encoding of the body is decoded."""
    return await _download(request, "request")


@routes.get("/api/requests/{id:path}/response", openapi.describe(None, _PARAMETERS, "text/plain"))
async def get_response_body(request: Request) -> Response:
    """Return the stored response body as an attachment. By default, the content encoding of the body is decoded."""
    return await _download(request, "response")


async def _download(request: Request, side: Side) -> Response:
    form = arguments.only(arguments.pairs_of(request), "as").get("as")
    if form not in (None, "sent"):
        message = f"The parameter 'as' is {form[:80]!r}: expected 'sent'. To get the decoded body, omit the parameter."
        raise BadFilter("as", message)
    async_asker, any_id = async_asker_of(request), request.path_params["id"]

    def question(asker: Asker) -> tuple[Record, str, bytes, Iterator[bytes]]:
        view = asker.view(any_id)
        chunks = None if view.is_running else view.transferred(side)
        if chunks is None:
            raise _missing_body_error(view.record, side)
        coding = view.content_encoding(side)
        if coding and form is None:
            chunks = iter([_decoded(view, side, coding)])
        is_text = _is_textual(view.headers(side)) and not (coding and form)
        # Read the first chunk before the response starts. If the store fails here, the response still has an error
        # status.
        return view.record, "text" if is_text else "binary", next(chunks, b""), chunks

    try:
        record, kind, first, rest = await async_asker.run(question)
    except RequestNotFound:
        return await detail_response(request, f"{any_id}/{side}")
    suffix = {"text": "txt", "binary": "bin"}[kind]
    name = f"{_UNSAFE.sub('_', record.id)[:64]}-{side}.{suffix}"
    return StreamingResponse(
        async_asker.stream(first, rest),
        media_type="text/plain; charset=utf-8" if kind == "text" else "application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _decoded(view: RequestView, side: Side, coding: str) -> bytes:
    body = view.body(side)
    if body is None:
        raise ApiError(
            "not_decodable",
            f"The body cannot be decoded: its content encoding {coding[:80]!r} is unknown, or the body is corrupt or "
            f"larger than {MAX_BODY_BYTES >> 20} MiB. Add ?as=sent to get the encoded bytes.",
            "as",
        )
    return body


def _is_textual(headers: list[tuple[str, str]]) -> bool:
    types = [value for name, value in headers if name.lower() == "content-type"]
    return bool(types) and _TEXTUAL.fullmatch(types[0].partition(";")[0].strip().lower()) is not None


def _missing_body_error(record: Record, side: Side) -> ApiError:
    if record.outcome == "open":
        return ApiError(
            "still_running", "The request is still running. Its bodies are available when the request has ended."
        )
    if record.body_state == "no_bodies":
        return ApiError(
            "no_bodies", "The request was logged without bodies, because of the header Service-Log or the setting log."
        )
    if record.body_state == "expired":
        return ApiError(
            "expired",
            "The body is no longer stored, because the content of the request has expired (settings keep_bodies_days "
            "and disk_budget).",
        )
    return ApiError("not_found", f"The {side} has no body.")
