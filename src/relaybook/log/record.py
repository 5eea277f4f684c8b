"""Declare the record: every field of a logged request.

SQL columns, JSON keys and the dashboard's types are derived from the fields of ``Record``, in the same order.
Timestamps are integers in a ``Record`` (microseconds since the epoch, UTC) and RFC 3339 text in JSON. Text is valid
UTF-8 without NUL. An unknown value is `None`, never 0.
"""

import re
from typing import Annotated, Final, Literal, get_type_hints

import msgspec

from relaybook.apis import Kind
from relaybook.tags import shortened

Outcome = Literal["open", "complete", "upstream_failed", "client_closed", "interrupted", "refused"]
StreamEnd = Literal["done", "no_done", "cut"]
BodyState = Literal["stored", "no_bodies", "expired"]
Side = Literal["request", "response"]
NoteCode = Literal[
    "too_large_to_read",
    "unknown_encoding",
    "wrong_encoding",
    "not_json",
    "too_many_odd_events",
    "not_understood",
    "arguments_not_json",
    "closed_early",
]
#: Why the cost of a request is unknown.
CostReason = Literal[
    "no_response",
    "error_response",
    "api_not_read",
    "body_not_read",
    "no_usage",
    "inconsistent_usage",
    "implausible",
    "no_model",
    "unknown_model",
    "ambiguous_model",
    "no_price",
    "no_rate_for_audio",
    "no_rate_for_cache_writes",
    "no_rate_for_web_searches",
]
AdviceCode = Literal["temperature_and_top_p", "temperature_above_1", "cut_by_max_tokens", "doubled_path"]

#: Microseconds since the epoch, UTC.
Timestamp = Annotated[int, "timestamp"]


class Note(msgspec.Struct, frozen=True):
    """A note on a request: a warning about its tags, what could not be read and why, or advice.

    The message contains no text of the bodies, because it is kept when the content expires.
    """

    code: str
    message: str


#: The fields of ``Record`` with notes, by the name of the filter that selects requests by a code.
NOTE_FIELDS: Final = {"warning": "warnings", "note": "notes", "advice": "advice"}


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    """Feedback from one source on a request. At least one of ``score``, ``label`` and ``comment`` is not `None`."""

    source: str
    score: float | None = None
    label: str | None = None
    comment: str | None = None
    #: The time at which the feedback was given.
    at: Timestamp


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
#: The fields of ``Record`` with ids that the client or the provider gave to a request. A request can be found by these
#: ids.
FOREIGN_IDS: Final = ("provider_request_id", "completion_id", "client_request_id")


def stored_id(foreign_id: str) -> str:
    """Return a foreign id as it is stored: unchanged, or shortened if it has more than 256 characters.

    Two different long ids stay different. NUL and lone surrogates are replaced by U+FFFD. A stored id is returned
    unchanged.
    """
    return shortened(_UNSTORABLE.sub("\ufffd", foreign_id))


class Record(msgspec.Struct, kw_only=True):
    """The fields of a request that are shown in lists of requests. docs/reference/api.md describes each field."""

    id: str
    seq: int | None = None
    started_at: Timestamp
    ended_at: Timestamp | None = None
    outcome: Outcome = "open"
    failed: bool = False
    namespace: str = "default"
    properties: dict[str, str] = {}
    warnings: list[Note] = []
    route: str = "default"
    upstream: str = ""
    method: str = ""
    path: str = ""
    query: str = ""
    kind: Kind = "other"
    client_address: str = ""
    user_agent: str | None = None
    key: str | None = None
    model: str | None = None
    response_model: str | None = None
    stream: bool = False
    stream_requested: bool | None = None
    stream_ended: StreamEnd | None = None
    status: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    duration_ms: float | None = None
    first_token_ms: float | None = None
    relay_ms: float | None = None
    chunks: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    tokens_estimated: bool = False
    cost_usd: float | None = None
    prices_version: str | None = None
    cost_reason: CostReason | None = None
    finish_reason: str | None = None
    user: str | None = None
    session: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    provider_request_id: str | None = None
    completion_id: str | None = None
    client_request_id: str | None = None
    retry_count: int | None = None
    trace_id: str | None = None
    input_preview: str | None = None
    output_preview: str | None = None
    body_state: BodyState = "stored"
    notes: list[Note] = []
    advice: list[Note] = []
    #: The latest feedback from each source, sorted by source. Feedback is added later, so stores keep it separate from
    #: the other fields.
    feedback: list[Feedback] = []

    @property
    def codes(self) -> set[tuple[str, str]]:
        """The codes of all notes, each after the name of its filter."""
        if not (self.warnings or self.notes or self.advice):
            return set()
        return {(name, note.code) for name, field in NOTE_FIELDS.items() for note in getattr(self, field)}

    @property
    def foreign_ids(self) -> list[str]:
        """The values of the fields in ``FOREIGN_IDS``, without fields that are `None`."""
        found = (self.provider_request_id, self.completion_id, self.client_request_id)
        return [each for each in found if each is not None]


class ExchangeFacts(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the relay reported about an exchange, before its bodies were read.

    The record has the same fields, but reading the bodies may have changed them there. So the bodies can be read again
    only with these facts.
    """

    outcome: Outcome = "complete"
    error_code: str | None = None
    error_message: str | None = None
    #: The path below the mount of the route, without query.
    api_path: str = "/chat/completions"
    #: The properties and warnings from headers. The record also has those from the body.
    properties: dict[str, str] = {}
    warnings: list[Note] = []
    #: Whether the whole request arrived.
    has_whole_request: bool = True
    #: Whether the client disconnected before all response bytes were sent to it.
    client_missed: bool = False
    #: Whether the response is from the relay itself, not from the upstream.
    is_relay_response: bool = False


class Detail(msgspec.Struct, kw_only=True, array_like=True):
    """Fields of a request that are shown only in the detail view, together with the bodies.

    Secrets in these fields are already redacted.
    """

    reason: str = ""
    #: Header lines as received, joined by CRLF.
    request_head: bytes = b""
    response_head: bytes = b""
    #: For each response chunk: the time from the arrival of the request head to the arrival of the chunk in
    #: microseconds, and the size of the chunk in bytes.
    chunk_at_us: list[int] = []
    chunk_bytes: list[int] = []
    #: SHA-256 (hex) of the whole body. The hash is set only if the body is large and its format is not supported,
    #: because only the first 64 KiB of such a body are stored.
    request_sha256: str | None = None
    response_sha256: str | None = None
    #: `None` if the facts are unknown. Then the bodies cannot be read again.
    exchange: ExchangeFacts | None = None

    @property
    def request_headers(self) -> list[tuple[str, str]]:
        """Names and values that the client sent, in order, including repeated names."""
        return split_head(self.request_head)

    @property
    def response_headers(self) -> list[tuple[str, str]]:
        """Names and values that the upstream sent, in order, including repeated names."""
        return split_head(self.response_head)


def split_head(head: bytes) -> list[tuple[str, str]]:
    """Return the names and values of CRLF-separated header lines."""
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n") if line)
    return [(name, value.strip(" \t")) for name, _, value in pairs]


class Keys(msgspec.Struct, array_like=True, frozen=True):
    """The keys of an exchange, with which a later request can continue it.

    ``all`` covers all messages and the response. ``window`` is 0 if there are too few messages. ``loose`` covers the
    ids of tool calls, or a long text. It is 0 if there is neither.
    """

    all: int
    window: int
    loose: int


class Origin(msgspec.Struct, array_like=True, frozen=True):
    """An earlier exchange that a request may continue. ``new_from`` is the first message after its response."""

    new_from: int
    keys: Keys


class MessageChain(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """The keys (hashes) that tell which requests continue an exchange, and which requests the exchange continues.

    ``messages`` is the number of messages. ``messages_key`` is the key of all messages, or 0 if all of them are system
    messages. ``after`` has the keys of each output of the response.
    """

    messages: int
    messages_key: int
    after: list[Keys] = []
    #: Exchanges that the request may continue, latest first.
    origins: list[Origin] = []
    #: The id of the response that the request continues (``previous_response_id`` of the Responses API).
    previous: str | None = None
    #: The id of the conversation that the request continues (``conversation`` of the Responses API).
    conversation: str | None = None


class Gap(msgspec.Struct, kw_only=True):
    """A time range in which requests were refused or not logged, or in which records were lost."""

    from_at: Timestamp
    to_at: Timestamp
    count: int
    reason: Literal["log_unavailable", "forwarded_unlogged", "damaged", "store_set_aside"]


FIELDS: Final[tuple[str, ...]] = Record.__struct_fields__
TIMESTAMPS: Final = frozenset(
    name for name, hint in get_type_hints(Record, include_extras=True).items() if "timestamp" in repr(hint)
)
encode_chain: Final = msgspec.msgpack.Encoder().encode
decode_chain: Final = msgspec.msgpack.Decoder(MessageChain).decode
