"""Declare the interface of a format, which parses the bodies of one API.

Each API has a module with one ``Format``. ``registry`` lists the formats by kind. The functions never raise, whatever
bytes a body contains. Values that cannot be parsed are `None`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from relaybook.kinds import Kind
from relaybook.log.formats.facts import RequestFacts, ResponseFacts, StreamEnded


class ReadStream(Protocol):
    """Return the facts of a stream. ``complete`` tells whether the whole stream arrived."""

    def __call__(self, data: bytes, *, complete: bool) -> ResponseFacts: ...


def leave_unknown(facts: ResponseFacts, request: bytes) -> bool:
    """Estimate nothing, so that missing token counts stay unknown. Formats that cannot estimate use this function."""
    return False


@dataclass(frozen=True)
class Format:
    """Parses the bodies of requests of one kind. The functions expect bodies without content coding."""

    kind: Kind
    read_request: Callable[[bytes], RequestFacts]
    #: Returns the facts of a response that is one JSON object. `None` if the data is not a JSON object.
    read_whole: Callable[[bytes], ResponseFacts | None]
    read_stream: ReadStream
    #: Returns the offset in a stream at which the first event with a token ends. The offset is after the event's blank
    #: line. `None` if there is no token.
    first_token_offset: Callable[[bytes], int | None]
    #: Returns the response for the detail view. The second argument tells whether to parse the response as a stream.
    #: See ``assemble_response``.
    assemble: Callable[[bytes, bool], dict[str, Any]]
    #: Returns the messages of a request body for the detail view. Each message has the structure of a chat message or
    #: is a text.
    list_messages: Callable[[dict[str, Any]], list[object]]
    #: Returns the names of the fields of a request body that ``list_messages`` reads. All other fields are parameters.
    message_fields: Callable[[dict[str, Any]], tuple[str, ...]]
    #: Estimates the token counts that the response does not have. Returns whether any count was estimated.
    estimate_usage: Callable[[ResponseFacts, bytes], bool] = leave_unknown
    #: Returns the messages and tools of a request body as fields of a chat completions request. Raises NotChat. The
    #: attribute is `None` if requests of this kind have no messages.
    to_chat: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    #: The response header with the provider's id of the request.
    request_id_header: str = "x-request-id"


def stream_end(*, is_done: bool, complete: bool) -> StreamEnded:
    """Return how a stream ended.

    ``no_done`` means that the whole stream arrived, but has no end mark. ``cut`` means that the stream broke off. A
    stream with an end mark is ``done``, even if the connection failed afterwards.
    """
    if is_done:
        return "done"
    return "no_done" if complete else "cut"
