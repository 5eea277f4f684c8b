"""What the relay tells the recorder: the payloads of the frames that are not body bytes alone.

Written as msgpack arrays, so fields are only ever added at the end, with a default. Secrets were replaced before.
A head carries the body bytes that came with it in one read: most requests and answers are one frame then, not three.
"""

from typing import Final, Literal

import msgspec


class Opened(msgspec.Struct, array_like=True):
    """A request was admitted. ``head`` is its header lines as the caller sent them, joined by CRLF."""

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
    #: Body bytes that came with the head, and whether they were all of it.
    body: bytes = b""
    complete: bool = False


class Answered(msgspec.Struct, array_like=True):
    """The head of the answer the caller gets: the provider's, or with ``made`` one of our own."""

    status: int
    reason: bytes
    head: bytes
    made: bool = False
    #: Body bytes that came with the head.
    body: bytes = b""


class Closed(msgspec.Struct, array_like=True, frozen=True):
    """How an exchange ended. ``relay_ns`` is our share: from the request's last byte read to the provider's wire."""

    outcome: Literal["complete", "upstream_failed", "client_closed", "interrupted", "refused"]
    error_code: str | None = None
    error_message: str | None = None
    relay_ns: int | None = None


class Noted(msgspec.Struct, array_like=True, frozen=True):
    """Requests that were not admitted since the last note, by code; spans in wall-clock nanoseconds."""

    from_ns: int
    to_ns: int
    refused: dict[str, int]
    forwarded_unlogged: int = 0


encode_event: Final = msgspec.msgpack.Encoder().encode
decode_opened: Final = msgspec.msgpack.Decoder(Opened).decode
decode_answered: Final = msgspec.msgpack.Decoder(Answered).decode
decode_closed: Final = msgspec.msgpack.Decoder(Closed).decode
decode_noted: Final = msgspec.msgpack.Decoder(Noted).decode
