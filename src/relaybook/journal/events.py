"""The payloads of journal frames that contain more than body bytes.

Payloads are msgpack arrays, so new fields may be added only at the end, with a default. Secrets are replaced before
encoding. OPENED and RESPONSE_BEGIN include the body bytes that arrived in the same read as the head. So a request or
a response that arrives in one read takes one frame.
"""

from typing import Final, Literal

import msgspec

from relaybook.apis import Kind


class Opened(msgspec.Struct, array_like=True):
    """The payload of an OPENED frame: an admitted request.

    ``head`` contains the header lines of the request, joined by CRLF, with secrets replaced.
    """

    wall_ns: int
    method: bytes
    target: bytes
    head: bytes
    namespace: str
    properties: dict[str, str]
    warnings: list[tuple[str, str]]
    route: str
    upstream: str
    client_address: str
    log: Literal["full", "no-bodies"]
    key: str | None
    #: The path below the mount of the route, without query, and the kind of its API (see ``apis``).
    api_path: bytes
    kind: Kind
    #: Body bytes that arrived with the head.
    body: bytes = b""
    #: Whether ``body`` is the whole body of the request.
    complete: bool = False


class ResponseBegin(msgspec.Struct, array_like=True):
    """The payload of a RESPONSE_BEGIN frame: the head of a response.

    If ``made`` is true, the relay itself made the response. Otherwise, the response is from the upstream.
    """

    status: int
    reason: bytes
    head: bytes
    made: bool = False
    #: Body bytes that arrived with the head.
    body: bytes = b""


ClosedOutcome = Literal["complete", "upstream_failed", "client_closed", "interrupted", "refused"]


class Closed(msgspec.Struct, array_like=True, frozen=True):
    """The payload of a CLOSED frame: the end of an exchange.

    ``relay_ns`` is the time between reading and sending the last request byte, without the time to connect.
    ``client_missed`` says whether the client disconnected before all response bytes were sent to it.
    """

    outcome: ClosedOutcome
    error_code: str | None = None
    error_message: str | None = None
    relay_ns: int | None = None
    client_missed: bool = False


class RefusalCounts(msgspec.Struct, array_like=True, frozen=True):
    """The payload of a COUNTED frame: counts of refused requests by error code, and of requests that were not logged.

    These counts cover the requests since the last COUNTED frame. Times are wall-clock nanoseconds.
    """

    from_ns: int
    to_ns: int
    refused: dict[str, int]
    forwarded_unlogged: int = 0


encode_event: Final = msgspec.msgpack.Encoder().encode
decode_opened: Final = msgspec.msgpack.Decoder(Opened).decode
decode_response_begin: Final = msgspec.msgpack.Decoder(ResponseBegin).decode
decode_closed: Final = msgspec.msgpack.Decoder(Closed).decode
decode_refusal_counts: Final = msgspec.msgpack.Decoder(RefusalCounts).decode
