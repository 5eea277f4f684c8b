"""Translate a query into parameters, report its errors, and suggest completions."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import ParsedQuery, QueryError, QueryToken, Suggestion, Suggestions
from relaybook.log.query.completion import KnownValues, complete
from relaybook.log.query.filters import BadFilter
from relaybook.log.query.language import MAX_CHARACTERS, parameters_of, parts_of, request_id_of, utf16_length
from relaybook.log.query.term_values import canonical_name

routes = Routes("log")

_PARAMETERS = [
    openapi.parameter("q", "The query, as in the parameter `q` of `GET /api/requests`. Empty by default."),
    openapi.parameter(
        "caret",
        "Offset of the caret (the input cursor), in UTF-16 code units. Completions are for the text at the caret. "
        "Default: the end of the query.",
        {"type": "integer", "minimum": 0},
    ),
]


@routes.get("/api/query", openapi.describe(ParsedQuery, _PARAMETERS))
async def parse_query(request: Request) -> Response:
    """Parse a query and suggest completions, without running the query.

    If the query is invalid, the status is still 200, and `error` describes the mistake. Offsets are in UTF-16 code
    units, as in JavaScript.
    """
    params = arguments.only(arguments.pairs_of(request), "q", "caret")
    text = params.get("q", "")
    caret = _caret(params.get("caret"), text)
    parsed = await async_asker_of(request).run(lambda asker: parsed_query(text, caret, asker.completions()))
    return Response(msgspec.json.encode(parsed), media_type="application/json")


def _caret(text: str | None, query: str) -> int:
    """Convert the parameter ``caret`` from UTF-16 code units to code points. `None` means the end of the query.

    Raises BadFilter if the text is not an offset in the query.
    """
    length = utf16_length(query)
    if text is None:
        return len(query)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= length):
        raise BadFilter("caret", f"caret is {text[:80]!r}: expected an integer from 0 to {length}, the length of q.")
    return len(query.encode("utf-16-le", "surrogatepass")[: 2 * int(text)].decode("utf-16-le", "ignore"))


def parsed_query(text: str, caret: int, known: KnownValues) -> ParsedQuery:
    """Parse a query and suggest completions, as `GET /api/query` does. ``caret`` is in code points."""
    is_readable = len(text) <= MAX_CHARACTERS
    to_utf16 = _converter(text)
    parts = parts_of(text) if is_readable else []
    tokens = [
        QueryToken(
            start=to_utf16(part.start),
            end=to_utf16(part.end),
            field=(canonical_name(part.name) or part.name) if part.name else "words",
            negated=part.negated,
        )
        for part in parts
    ]
    params: list[tuple[str, str]] = []
    error = None
    try:
        params = parameters_of(text, clock.wall_us())
    except BadFilter as problem:
        end = problem.at + utf16_length(problem.term) if problem.term else utf16_length(text)
        error = QueryError(
            start=problem.at,
            end=end,
            code=problem.code,
            message=problem.advice(),
            replacement=problem.replacement,
        )
    start, end, items = complete(text, caret, known) if is_readable else (caret, caret, [])
    return ParsedQuery(
        params=params,
        request_id=request_id_of(text),
        tokens=tokens,
        error=error,
        suggestions=Suggestions(
            start=to_utf16(start),
            end=to_utf16(end),
            items=[Suggestion(**item._asdict()) for item in items],
        ),
    )


def _converter(text: str) -> Callable[[int], int]:
    """Return a function that converts offsets in the text from code points to UTF-16 code units."""
    if text.isascii():
        return lambda at: at
    return lambda at: utf16_length(text[:at])
