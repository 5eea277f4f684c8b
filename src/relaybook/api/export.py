"""Download the requests that match a filter as a file."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.asker import Asker
from relaybook.log.export.export import FILE_FORMATS, PARAMETERS, parse_export_query

routes = Routes("log")

_BOOLEAN: Final = {"type": "boolean"}
_PARAMETERS = [
    openapi.parameter("format", "The file format. Required.", {"type": "string", "enum": list(FILE_FORMATS)}),
    openapi.parameter("bodies", "`true` adds headers, prompts and responses to `jsonl` and `parquet` files.", _BOOLEAN),
    openapi.parameter(
        "end",
        'Whether to add a last line `{"end":true,"count":n}`. Default: `true` for `jsonl`, `false` for other formats.',
        _BOOLEAN,
    ),
]


@routes.get("/api/export", openapi.describe(None, [*openapi.filter_parameters(), *_PARAMETERS], "application/x-ndjson"))
async def export_requests(request: Request) -> Response:
    """Return the finished requests that match the filter as a file.

    The file contains the requests that were recorded before the export began, in the order of their recording. The
    response is chunked, so that a client can tell whether the response is complete. [Export format](export-format.md)
    describes the files.
    """
    values, rest = arguments.take(arguments.pairs_of(request), *PARAMETERS)
    query = parse_export_query(values, arguments.filter_of(rest, *PARAMETERS))
    async_asker = async_asker_of(request)

    def begin(asker: Asker) -> tuple[bytes, Iterator[bytes]]:
        chunks = asker.export(query).chunks()
        # Read the first chunk before the response starts. If the store fails here, the response still has an error
        # status.
        return next(chunks), chunks

    first, chunks = await async_asker.run(begin)
    return StreamingResponse(
        async_asker.stream(first, chunks),
        media_type=query.file_format.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{file_name(query.file_format.name, clock.wall_us())}"',
        },
    )


def file_name(format_name: str, at_us: int) -> str:
    """Return the name of a file that is exported at ``at_us``, such as ``relaybook-2026-11-21T140231Z.csv``."""
    at = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    suffix = {"chat": "chat.jsonl"}.get(format_name, format_name)
    return f"relaybook-{at:%Y-%m-%dT%H%M%SZ}.{suffix}"
