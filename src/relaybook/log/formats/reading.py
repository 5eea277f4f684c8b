"""Read bodies into the model of a conversation, each with the format of its API.

A body is read once. Bytes come before labels: a body that begins as an event stream is one, whatever its content type
says. Nothing raises, whatever the bytes are. What could not be read is said in notes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from relaybook.apis import Kind, Match
from relaybook.log.formats import (
    audio,
    chat,
    cohere,
    completion,
    embedding,
    generate,
    image,
    interaction,
    json_array,
    lenient,
    message,
    moderation,
    multipart,
    ndjson,
    ollama,
    response,
    sse,
)
from relaybook.log.formats.content import MAX_PER_END
from relaybook.log.formats.conversation import Error, Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import as_json, is_object, sanitize, text_or_none
from relaybook.log.formats.provider_errors import describe_text, visible_text
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.text import clean
from relaybook.log.record import Note

_DONE: Final = b"[DONE]"
#: Maximum number of metadata entries that are read. Each entry becomes a property, and a request can have far fewer
#: properties than this.
_MAX_METADATA: Final = 1000
#: The user in requests of Claude Code before 2.1; later versions send a JSON object with these names.
_USER_OF_SESSION: Final = re.compile(
    r"user_(?P<device_id>[0-9a-f]{16,128})_account_(?P<account_uuid>[0-9a-f-]{0,64})_session_(?P<session_id>[0-9a-f-]{8,64})"
)
_USERS: Final = ("account_uuid", "user_id", "device_id", "id")
#: Cache keys that are the id of a session. Most other cache keys belong to a prompt that many sessions share.
_SESSION_KEY: Final = re.compile(r"(?i)(?:ses|sess|session|thread|conv)[_-]|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-")
NOT_JSON: Final = "not_json"
NOT_UNDERSTOOD: Final = "not_understood"
#: The types of parts with the beginning of a body that no format could read.
RAW_TYPES: Final = ("json", "text")
INCOMPLETE: Final = "stream_incomplete"
#: Maximum number of error events with text, and of lines with JSON but without ``data:``, that are searched for an
#: error.
_MAX_ODD_ERRORS: Final = 10_000


class Reading(NamedTuple):
    """A response that was read.

    ``first_token_end`` is the offset in a stream after the event with the first token, or `None` if there is no token.
    ``has_end_mark`` tells whether the end mark of the format arrived. ``is_known`` tells whether the body has any field
    of its API.
    """

    response: Response
    is_stream: bool
    first_token_end: int | None
    has_end_mark: bool
    is_known: bool
    notes: list[Note]


#: The APIs whose streams are JSON lines.
_NDJSON: Final[tuple[Kind, ...]] = ("ollama", "cohere")
#: The APIs whose requests can be forms.
_FORMS: Final[tuple[Kind, ...]] = ("image", "audio")
#: The module of each API whose bodies are read.
_FORMATS: Final = {
    "chat": chat,
    "completion": completion,
    "response": response,
    "message": message,
    "generate": generate,
    "interaction": interaction,
    "cohere": cohere,
    "ollama": ollama,
    "embedding": embedding,
    "image": image,
    "audio": audio,
    "moderation": moderation,
}


def read_request(data: bytes, match: Match) -> Request:
    """Read a decoded request body."""
    format_ = _FORMATS.get(match.api.kind)
    body = None
    if format_ is not None:
        is_form = match.api.kind in _FORMS and data.startswith(b"--")
        body = multipart.load(data) if is_form else lenient.load(data)
    if format_ is None or not is_object(body):
        return Request(model=match.model)
    request: Request = format_.read_request(body, match)
    model, user, stream = body.get("model"), body.get("user"), body.get("stream")
    if request.stream is None and (isinstance(stream, bool) or stream in ("true", "false")):  # a form has only texts
        request.stream = stream in (True, "true")
    request.model = request.model or (model if isinstance(model, str) and model else match.model)
    request.user = request.user or (user if isinstance(user, str) and user else None)
    if is_object(metadata := body.get("metadata")):
        request.metadata = _metadata(metadata, is_message=match.api.kind == "message")
    if request.user is not None and request.user.startswith(("{", "user_")):
        _split_user(request, request.user)
    request.session = request.session or request.conversation or _session(body)
    request.understood = True
    if request.omitted:
        note = Part(kind="other", type="omitted", text=f"[{request.omitted:,} messages are not shown here]")
        request.messages.insert(len(request.messages) - MAX_PER_END, Message(None, [note]))
    return request


def _metadata(pairs: dict[str, Any], *, is_message: bool) -> dict[str, str]:
    """Return metadata as texts. Values other than strings become JSON."""
    texts: dict[str, str] = {}
    for name, value in pairs.items():
        if len(texts) == _MAX_METADATA:
            break
        if not (is_message and name == "user_id"):
            text = value if isinstance(value, str) else as_json(value)
            texts[clean(name, len(name))] = clean(text, len(text))
    return texts


def _split_user(request: Request, user: str) -> None:
    """Split a user that Claude Code puts together from account or device, and session."""
    parts: dict[str, Any] = {}
    if user.startswith("{"):
        value = lenient.load(user.encode(errors="replace"))
        parts = value if is_object(value) else {}
    elif found := _USER_OF_SESSION.fullmatch(user):
        parts = found.groupdict()
    names = [parts[name] for name in _USERS if isinstance(parts.get(name), str) and parts[name]]
    session = parts.get("session_id")
    if names:
        request.user = sanitize(names[0])
    if isinstance(session, str) and session:
        request.session = sanitize(session)


def _session(body: dict[str, Any]) -> str | None:
    """Return the session that the body names in ``client_metadata`` (Codex), ``session_id`` (OpenRouter), or as key."""
    client = body.get("client_metadata")
    named = (client.get("session_id"), client.get("thread_id")) if is_object(client) else ()
    for value in (*named, body.get("session_id")):
        if (session := text_or_none(value)) is not None:
            return session
    key = text_or_none(body.get("prompt_cache_key"))
    return key if key is not None and _SESSION_KEY.match(key) else None


def read_response(data: bytes, kind: Kind, *, is_event_stream: bool, complete: bool) -> Reading:
    """Read a decoded response body.

    ``is_event_stream`` tells whether the content type is that of an event stream or of JSON lines. ``complete`` tells
    whether the whole response arrived.
    """
    if kind == "chat" and (plain := chat.read_text_response(data)) is not None:
        return Reading(plain, False, None, False, True, [])
    format_ = _FORMATS.get(kind, chat)
    stream: BaseStream = format_.Stream()
    if kind == "audio" and (plain := audio.read_plain_response(data)) is not None:
        return Reading(plain, False, None, False, True, [])
    if not data.startswith(b"{") and (sse.starts_as_stream(data) or (is_event_stream and not data.strip())):
        return _read_stream(stream, data, complete=complete)
    if kind == "generate" and json_array.starts_as_array(data) and not lenient.is_too_much(data):
        return _read_array(stream, data, complete=complete)
    if ndjson.starts_as_ndjson(data):
        return _read_lines(stream, data, complete=complete)
    has_lines = is_event_stream and kind in _NDJSON
    body = lenient.load(data)
    if is_object(body) and not (has_lines and ndjson.is_one_line(data)):
        stream.add(body)
        return _whole(stream, data, kind)
    if has_lines and (body is None or is_object(body)):
        return _read_lines(stream, data, complete=complete)
    if body is None:
        first, rest = sse.split_object(data)
        if rest and is_object(value := lenient.load(first)):
            stream.add(value)
            return _read_stream(stream, rest, complete=complete, before=len(data) - len(rest))
        if is_event_stream:
            return _read_stream(stream, data, complete=complete)
    return _unexpected(data, body, complete=complete)


def read_growing(data: bytes, kind: Kind, ends: Iterable[int], *, is_event_stream: bool) -> Iterator[Response]:
    """Yield the response as clients knew it after each of these numbers of bytes, which increase.

    Nothing is yielded if the body is not a stream. A response shares its parts with later ones, so use it at once.
    """
    stream: BaseStream = _FORMATS.get(kind, chat).Stream()
    events = _events_of(data, kind, is_event_stream=is_event_stream)
    if events is None:
        return
    reader = _EventReader(stream)
    event = next(events, None)
    for end in ends:
        while event is not None and event[2] <= end:
            reader.take(*event[:2])
            event = next(events, None)
        yield stream.response()


def _events_of(data: bytes, kind: Kind, *, is_event_stream: bool) -> Iterator[tuple[str, bytes, int]] | None:
    """Return the events of a stream: name, data, and the offset after the event. `None` if the body is no stream."""
    if not data.startswith(b"{") and sse.starts_as_stream(data):
        return sse.events_with_ends(data)
    if kind == "generate" and json_array.starts_as_array(data) and not lenient.is_too_much(data):
        return (("", element, end) for element, end in json_array.JsonArray(data).elements())
    if ndjson.starts_as_ndjson(data) or (is_event_stream and kind in _NDJSON):
        return (("", line, end) for line, end in ndjson.lines(data))
    return None


def _whole(stream: BaseStream, data: bytes, kind: Kind) -> Reading:
    found = stream.response()
    notes: list[Note] = []
    if not stream.is_known and found.error is None and kind in _FORMATS:
        notes.append(Note(NOT_UNDERSTOOD, "The response is JSON, but has no field of this API."))
        found.outputs = [_raw_output(visible_text(data), "json")]
    return Reading(found, False, None, False, stream.is_known, notes)


def _unexpected(data: bytes, value: object, *, complete: bool) -> Reading:
    """Read a body that is neither a JSON object nor a stream. Only its beginning is shown."""
    found, notes = Response(), []
    if value is not None or data.strip() == b"null":
        text = value if isinstance(value, str) else as_json(value)
        found.outputs = [_raw_output(text, "json")]
        notes.append(Note(NOT_UNDERSTOOD, "The response is JSON, but not an object."))
    elif not data.strip():
        # Some servers send empty lines while they are busy.
        message = f"The response has {'only white space' if data else 'no body'}."
        found.error = Error(INCOMPLETE, message) if complete else None
    elif lenient.is_too_much(data):
        notes.append(Note("too_large_to_read", "The response has more than a million objects and lists."))
    elif complete:
        shown = describe_text(data)
        found.outputs = [_raw_output(shown, "text")]
        if data.lstrip()[:1] not in (b"{", b"["):
            found.error = Error(NOT_JSON, f"The response is not JSON: {shown}")
            notes.append(Note(NOT_JSON, "The response is not JSON."))
        elif data.rstrip()[-1:] not in (b"}", b"]"):
            found.error = Error(INCOMPLETE, "The response ended before its JSON was complete.")
            notes.append(Note(NOT_JSON, "The response begins like JSON, but is not complete."))
        else:
            found.error = Error(NOT_JSON, "The response is not valid JSON, or it is nested too deeply.")
            notes.append(Note(NOT_JSON, "The response begins like JSON, but cannot be parsed."))
    return Reading(found, False, None, False, False, notes)


def _raw_output(text: str | None, kind: Literal["json", "text"]) -> Output:
    return Output(index=0, parts=[Part(kind="other", type=kind, text=text)] if text else [])


class _EventReader:
    """Passes the events of one stream to the format, whatever they contain."""

    def __init__(self, stream: BaseStream) -> None:
        self.decoder = lenient.EventDecoder()
        self._stream = stream
        self._odd_errors_left = _MAX_ODD_ERRORS
        #: Number of events that begin like an object, but are not JSON.
        self.lost = 0
        #: Whether an event has too many values to be parsed.
        self.is_too_large = False

    def take(self, name: str, payload: bytes) -> None:
        if name == sse.JSON_LINE:
            if self._may_be_error() and is_object(value := self.decoder.load(payload)):
                self._stream.add_error(value)
        elif is_object(value := self._object(payload)):
            self._add(value, name)
        elif name == "error":
            if self._may_be_error():
                value = lenient.load(payload)
                self._stream.add_error_text(payload.decode("utf-8", "replace") if value is None else str(value))
        elif b"\n" in payload:  # some servers separate events only by line ends
            for line in payload.split(b"\n"):
                if line.startswith(_DONE):
                    self._stream.has_end_mark = True
                elif is_object(value := self._object(line)):
                    self._add(value, name)
                else:
                    self.lost += line.startswith(b"{")
        elif lenient.is_too_much(payload):
            self.is_too_large = True
        else:
            self.lost += payload.startswith(b"{")

    def _add(self, value: dict[str, Any], name: str) -> None:
        if value or name:
            self._stream.add(value, name)

    def _object(self, payload: bytes) -> Any:
        if not payload.startswith(b"{"):
            payload = payload.lstrip().removeprefix(b"\xef\xbb\xbf")
        return self.decoder.load(payload) if payload.startswith(b"{") else None

    def _may_be_error(self) -> bool:
        self._odd_errors_left -= 1
        return self._odd_errors_left >= 0


def _read_stream(stream: BaseStream, data: bytes, *, complete: bool, before: int = 0) -> Reading:
    """Read an event stream, which begins after ``before`` bytes of the body."""
    reader = _EventReader(stream)
    add_text = stream.add_text if isinstance(stream, chat.Stream) else None
    first_block: int | None = None
    lines = sse.normalized(data)
    unfinished, had_end_mark = sse.unfinished_block(lines), True
    lost: int | None = None
    for name, payload, block in sse.events(lines):
        if block == unfinished:  # clients do not see an event that no blank line ends
            had_end_mark, lost = complete or stream.has_end_mark, reader.lost
        if first_block is not None and add_text is not None and not name and add_text(payload):
            continue
        if payload.startswith(_DONE):
            stream.has_end_mark = True
            break
        reader.take(name, payload)
        if first_block is None and stream.has_token:
            first_block = block
    stream.has_end_mark &= had_end_mark
    end = None if first_block is None else before + sse.end_of_block(data, first_block)
    lost = reader.lost if lost is None else lost
    return _reading(stream, reader, lost, end, is_done=stream.is_finished, complete=complete)


def _read_lines(stream: BaseStream, data: bytes, *, complete: bool) -> Reading:
    """Read a stream of JSON lines. A last line that is cut off is not counted as lost."""
    reader = _EventReader(stream)
    first_end: int | None = None
    lost = 0
    for line, end in ndjson.lines(data):
        lost = reader.lost
        reader.take("", line)
        if first_end is None and stream.has_token:
            first_end = end
    lost = reader.lost if data.endswith(b"\n") else lost
    return _reading(stream, reader, lost, first_end, is_done=stream.is_finished, complete=complete)


def _read_array(stream: BaseStream, data: bytes, *, complete: bool) -> Reading:
    """Read a JSON array whose elements are the events. Clients can use nothing of an array that is not closed."""
    reader, array = _EventReader(stream), json_array.JsonArray(data)
    end: int | None = None
    for element, after in array.elements():
        reader.take("", element)
        if end is None and stream.has_token:
            end = after
    stream.has_end_mark = array.is_closed and stream.is_finished
    return _reading(stream, reader, reader.lost, end, is_done=stream.has_end_mark, complete=complete)


def _reading(
    stream: BaseStream, reader: _EventReader, lost: int, first_token_end: int | None, *, is_done: bool, complete: bool
) -> Reading:
    """Return what was read of a stream. ``lost`` is the number of events that could not be read."""
    found = stream.response()
    found.ending = "done" if is_done else "no_done" if complete else "cut"
    notes = []
    if reader.decoder.gave_up:
        limit = f"{lenient.MAX_ODD_EVENTS:,}"
        notes.append(Note("too_many_odd_events", f"More than {limit} events are not valid JSON. The rest is not read."))
    if reader.is_too_large:
        notes.append(Note("too_large_to_read", "An event has more than a million objects and lists."))
    if lost and not reader.decoder.gave_up:
        text = f"{'1 event is' if lost == 1 else f'{lost:,} events are'} not valid JSON, so some content is missing."
        notes.append(Note(NOT_JSON, text))
        found.error = found.error or Error(NOT_JSON, text)
    return Reading(found, True, first_token_end, stream.has_end_mark, stream.is_known, notes)
