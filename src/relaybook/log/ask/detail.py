"""Return everything known about one request: its row, headers, messages, response and timeline."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from relaybook.clock import format_timestamp
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import Row, TimestampText, row_fields
from relaybook.log.ask.media import add_content
from relaybook.log.ask.retries import Attempt, attempts
from relaybook.log.formats.conversation import Message, Request, Response, plain
from relaybook.log.formats.lenient import sanitize
from relaybook.log.formats.tool_results import add_calls, link_results
from relaybook.log.record import Detail, Record
from relaybook.log.request_view import RequestView, find_request
from relaybook.log.row import to_json
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader

MAX_ALSO: Final = 20


class Sighting(Struct, kw_only=True):
    """Another request that the id in the path also identifies. `id` is the Relaybook id of this other request."""

    id: str
    started_at: TimestampText


_HEADERS: Final = (
    "Names and values as received. Secrets are replaced. `null` if the headers cannot be read or are no longer stored, "
    "for example because the content of the request has expired. Empty if there were no headers."
)


class DetailPart(Struct, kw_only=True):
    """The fields that ``RequestDetail`` has in addition to the fields of a row.

    Fields that can be `None` are `None` if their data is not stored, cannot be read, or exceeds 64 MiB.
    """

    damage: Annotated[
        str | None,
        Meta(
            description="Why headers or bodies cannot be read, and which file is damaged. `null` if they are not "
            "damaged."
        ),
    ]
    reason: Annotated[str | None, Meta(description="Reason phrase of the response's status line.")]
    request_headers: Annotated[list[tuple[str, str]] | None, Meta(description=_HEADERS)]
    response_headers: Annotated[list[tuple[str, str]] | None, Meta(description=_HEADERS)]
    stored_request_bytes: Annotated[
        int | None,
        Meta(
            description="How many bytes of the request body are stored, counted before the log compresses them. "
            "`null` if the body is not stored."
        ),
    ]
    stored_response_bytes: Annotated[
        int | None,
        Meta(
            description="How many bytes of the response body are stored, counted before the log compresses them. "
            "`null` if the body is not stored."
        ),
    ]
    parameters: Annotated[
        dict[str, Any] | None, Meta(description="All fields of the request body except the messages, as sent.")
    ]
    messages: Annotated[
        list[Message] | None,
        Meta(description="The messages of the request body, oldest first, in the same structure for all APIs."),
    ]
    response: Annotated[
        Response | None,
        Meta(
            description="The response body, in the same structure for all APIs. For a stream, the body is assembled "
            "from the events of the stream."
        ),
    ]
    timeline: Annotated[
        list[tuple[float, int]],
        Meta(
            description="A pair for each chunk of the response: milliseconds since the request's headers arrived, and "
            "number of bytes."
        ),
    ]
    attempts: Annotated[
        list[Attempt],
        Meta(
            description="All attempts of this request, first attempt first, if it was sent again after a failure or by "
            "the SDK. Empty if there was one attempt."
        ),
    ]
    also: Annotated[
        list[Sighting],
        Meta(description="Up to 20 other finished requests that the id in the path also identifies, newest first."),
    ]


if TYPE_CHECKING:
    #: A row and the fields of ``DetailPart``, in one object.
    RequestDetail: TypeAlias = dict[str, Any]
else:
    RequestDetail = msgspec.defstruct(
        "RequestDetail",
        row_fields(),
        bases=(DetailPart,),
        kw_only=True,
        namespace={"__doc__": "A request with its headers, messages and response."},
    )


class RequestNotFound(AskError):
    """No request in the log has the id."""

    def __init__(self, any_id: str) -> None:
        super().__init__(
            "not_found",
            f"No request in this log has the id {any_id[:80]!r}. The id can be Relaybook's id (the response header "
            "Service-Request-Id), the client's id, the provider's request id, or the id in the response body. To list "
            "requests, use GET /api/requests.",
            "id",
        )


def view(reader: Reader, any_id: str) -> tuple[RequestView, list[Record]]:
    """Return the best match for an id (see ``find_request``), and up to MAX_ALSO other records that have the id.

    Raises RequestNotFound.
    """
    found = find_request(reader, any_id, MAX_ALSO)
    if found is None:
        raise RequestNotFound(any_id)
    return found


def detail(reader: Reader, any_id: str, first_message: int, deadline_ns: int) -> Row:
    """Return the fields of the row and of DetailPart in a dict that msgspec can encode.

    Messages before ``first_message`` are left out. Raises RequestNotFound.
    """
    found, also = view(reader, any_id)
    part = _part(reader, found, also, first_message)
    part.attempts = attempts(reader, found.record, deadline_ns)
    return to_json(found.record) | msgspec.structs.asdict(part)


def _part(reader: Reader, found: RequestView, also: list[Record], first_message: int) -> DetailPart:
    damage = found.damage
    request = response = None
    try:
        request, response = found.request(), found.response()
    except BodyDamaged as error:
        damage = str(error)
    if request is not None:
        _link_results(reader, request)
    if response is not None:
        link_results(response.outputs)
    add_content(found, request, response)
    return DetailPart(
        damage=damage,
        reason=found.detail.reason or None,
        request_headers=found.headers("request") if found.has_headers else None,
        response_headers=found.headers("response") if found.has_headers else None,
        stored_request_bytes=found.size("request"),
        stored_response_bytes=found.size("response"),
        parameters=None if request is None else sanitize(request.parameters),
        messages=None if request is None else plain(_from(request.messages, first_message)),
        response=plain(response),
        timeline=_timeline(found.detail),
        attempts=[],
        also=[Sighting(id=record.id, started_at=format_timestamp(record.started_at)) for record in also],
    )


def _link_results(reader: Reader, request: Request) -> None:
    """Connect results of tools with their calls, which can also be in the stored response that the request names."""
    missing = link_results(request.messages)
    continued = find_request(reader, request.previous, 0) if missing and request.previous else None
    if continued is None:
        return
    with suppress(BodyDamaged):
        outputs = (continued[0].response() or Response()).outputs
        add_calls(missing, (part for output in outputs for part in output.parts))


def _from(messages: list[Message], first: int) -> list[Message]:
    """Return the messages from an index on. Results whose calls are left out have the arguments of their calls."""
    for part in (part for message in messages[first:] if first for part in message.parts if part.call is not None):
        at, place = part.call or (0, 0)
        if at < first:
            part.arguments, part.call = messages[at].parts[place].arguments, None
        else:
            part.call = (at - first, place)
    return messages[first:]


def _timeline(detail: Detail) -> list[tuple[float, int]]:
    return [(at_us / 1000, size) for at_us, size in zip(detail.chunk_at_us, detail.chunk_bytes, strict=False)]
