"""Read Gemini's API: ``generateContent``, its stream, ``countTokens`` and embeddings, also as Vertex serves them.

A content has a role and parts. ``systemInstruction`` is the first message, and the role ``model`` is ``assistant``. The
result of a function, which is a part, becomes a message of role ``tool`` before the other parts of the content. Every
candidate of a response is an output.

A stream has no end mark: it is complete when every candidate has a finish reason, or when the prompt was blocked. Each
event is a response with the next parts. Texts of consecutive events are one part, as long as no event says more about
its text. Source: the types of google-genai, version 3.6.
"""

from collections.abc import Iterable
from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.chat import tool_result
from relaybook.log.formats.content import ends
from relaybook.log.formats.conversation import Error, Message, Output, Part, Request, Response
from relaybook.log.formats.embedding import describe_vectors
from relaybook.log.formats.generate_parts import PartialArguments, camel, camel_case, read_part, rest_of
from relaybook.log.formats.lenient import is_object, sanitize, text_or_none
from relaybook.log.formats.output import OutputBuilder, PartBuilder, merge
from relaybook.log.formats.provider_errors import with_status
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.text import ERROR_CHARACTERS, clean
from relaybook.log.formats.usage import merge_usage

#: The operations whose requests belong to no conversation.
_COUNTS_AND_EMBEDS: Final = frozenset({"countTokens", "embedContent", "batchEmbedContents"})
_MODELS: Final = "models/"
_CALL: Final = "functionCall"
_MAX_CANDIDATES: Final = 128
_ROLES: Final = {"model": "assistant", "function": "tool"}
#: The finish reasons of candidates that a client cannot use.
_FAILED: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
    }
)
#: The fields of a response of which at least one is in every event.
_KNOWN: Final = (
    *("candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId"),
    *("embedding", "embeddings", "totalTokens"),
)
_KEPT_ELSEWHERE: Final = ("candidates", "error")
_READ: Final = ("usageMetadata", "modelVersion", "responseId", "embedding", "embeddings")


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the system instruction and the contents of a request as messages.

    A request for embeddings has one ``content``, or a list of ``requests`` with one each. A request for a token count
    may have the whole request in ``generateContentRequest``.
    """
    fields = camel_case(body)
    inner = fields.get("generateContentRequest")
    if is_object(inner) and fields.get("contents") is None:
        request = read_request(inner, match)
        rest = rest_of(body, generateContentRequest=inner)
        request.parameters = rest | {"generateContentRequest": request.parameters}
        return request
    messages: list[Message] = []
    read: dict[str, object] = {}
    system = fields.get("systemInstruction")
    if isinstance(system, str | dict) and system:
        read["systemInstruction"] = system
        messages += _system(system)
    omitted = 0
    for name in ("contents", "content", "requests"):
        value = fields.get(name)
        if isinstance(value, str | list | dict) and value:
            read[name] = value
            first, left_out, last = ends(value if isinstance(value, list) else [value])
            omitted += left_out
            items = (*first, *last)
            messages += (
                [each for item in items for each in _of_request(item)] if name == "requests" else _messages(items)
            )
    model = text_or_none(body.get("model"))
    return Request(
        model=model.removeprefix(_MODELS) if model is not None else None,
        messages=messages,
        omitted=omitted,
        parameters={name: value for name, value in body.items() if camel(name) not in read},
        is_conversation=match.operation not in _COUNTS_AND_EMBEDS,
        is_text_list=match.operation == "batchEmbedContents",
    )


def _system(value: str | dict[str, Any]) -> list[Message]:
    if isinstance(value, str):
        return [Message("system", [read_part(value).part()])]
    return [Message("system", _parts(value.get("parts")), other=rest_of(value, **_read_parts(value)))]


def _of_request(item: object) -> Iterable[Message]:
    """Yield the messages of one of the requests for embeddings. The last one has the fields of the request."""
    if not is_object(item):
        yield from _messages([item])
        return
    content = item.get("content")
    messages = [] if content is None else _messages([content])
    messages = messages or [Message("user")]
    messages[-1].other = messages[-1].other | rest_of(item, content=None)
    yield from messages


def _read_parts(content: dict[str, Any]) -> dict[str, object]:
    """Return ``parts`` if they are read."""
    parts = content.get("parts")
    return {"parts": parts} if isinstance(parts, str | list | dict) else {}


def _items(parts: object) -> list[Any]:
    """Return the parts of a content. A single part need not be in a list."""
    if isinstance(parts, list):
        first, _, last = ends(parts)
        return first + last
    return [parts] if isinstance(parts, str | dict) else []


def _parts(parts: object) -> list[Part]:
    return [_part(read_part(item)) for item in _items(parts)]


def _messages(contents: Iterable[object]) -> list[Message]:
    """Return contents as messages. Contents of the model in a row are one message.

    The SDK sends the response of a stream again as one content for each event.
    """
    found: list[tuple[Message, list[PartBuilder]]] = []
    for content in contents:
        for message, builders in _read_content(content):
            last, parts = found[-1] if found else (None, [])
            if last is None or not (last.role == message.role == "assistant") or last.other or message.other:
                found.append((message, builders))
                continue
            if builders and parts and _continues(builders[0], parts[-1]):
                parts[-1].texts += builders[0].texts
                parts[-1].other = builders[0].other
                del builders[0]
            parts += builders
    for message, builders in found:
        message.parts += map(_part, builders)
    return [message for message, _ in found]


def _continues(builder: PartBuilder, last: PartBuilder) -> bool:
    """Return whether a text continues the text before it. A text with other fields, such as a signature, has ended."""
    return builder.kind in ("text", "reasoning") and builder.kind == last.kind and not last.other


def _read_content(item: object) -> Iterable[tuple[Message, list[PartBuilder]]]:
    """Yield the results of functions in a content, each as a message, and then a message with all other parts."""
    if not is_object(item):
        yield Message("user"), [read_part(item)]
        return
    if not (item.keys() & {"parts", "role"}):
        item = {"parts": item}
    role, builders = item.get("role"), [(each, read_part(each)) for each in _items(item.get("parts"))]
    results = [(each, part) for each, part in builders if part.kind == "tool_result" and part.type is None]
    for each, part in results:
        yield _result(each, part), []
    if results and len(results) == len(builders):
        return
    read = {"role": role} if isinstance(role, str) else {}
    yield (
        Message(
            _ROLES.get(role, sanitize(role)) if isinstance(role, str) and role else "user",
            other=rest_of(item, **read, **_read_parts(item)),
        ),
        [part for _, part in builders if not (part.kind == "tool_result" and part.type is None)],
    )


def _result(item: Any, builder: PartBuilder) -> Message:
    """Return the result of a function as a message, with the images and files in it."""
    found = builder.part()
    nested = found.other.get("functionResponse")
    media: list[Part] = []
    if is_object(nested) and isinstance(parts := nested.get("parts"), list):
        media = _parts(parts)
        if nested := rest_of(nested, parts=parts):
            found.other["functionResponse"] = nested
        else:
            del found.other["functionResponse"]
    result, *_ = tool_result(found.id, [])
    result.text, result.name = found.text, found.name
    return Message("tool", [result, *media], other=found.other)


def _part(builder: PartBuilder) -> Part:
    part = builder.part()
    if part.kind == "tool_call":
        part.arguments = part.arguments or "{}"
    return part


class _Candidate:
    """One candidate so far."""

    __slots__ = ("arguments", "builder", "call", "has_token", "parts")

    def __init__(self, index: int) -> None:
        self.builder = OutputBuilder(index)
        self.parts: list[PartBuilder] = []
        self.has_token = False
        #: The last call, if more of its arguments follow, and its arguments so far.
        self.call: PartBuilder | None = None
        self.arguments = PartialArguments()

    def add(self, item: dict[str, Any]) -> None:
        """Add what an event says about the candidate."""
        read: dict[str, object] = {}
        if is_object(content := item.get("content")):
            read["content"] = content
            self._add_content(content)
        if type(index := item.get("index")) is int:
            read["index"] = index
        reason = text_or_none(camel_case(item).get("finishReason"))
        if reason is not None:
            self.builder.finish_reason = reason
        rest = rest_of(item, "finishReason", **read)
        if "safetyRatings" in rest:  # every event has all of them
            self.builder.other.pop("safetyRatings", None)
        merge(self.builder.other, rest, joins_texts=False)

    def _add_content(self, content: dict[str, Any]) -> None:
        for place, item in enumerate(_items(content.get("parts"))):
            call = camel_case(item).get(_CALL) if is_object(item) else None
            if is_object(item) and is_object(call):
                self._add_call(item, camel_case(call))
            else:
                self._add_part(read_part(item), continues=place == 0)
        role = {"role": "model"} if content.get("role") == "model" else {}
        if rest := rest_of(content, **role, **_read_parts(content)):
            merge(self.builder.other, {"content": rest}, joins_texts=False)

    def _add_part(self, builder: PartBuilder, *, continues: bool) -> None:
        """Add a part. The first text of an event continues the text before it, unless that text has other fields."""
        self.has_token = self.has_token or bool(builder.texts) or builder.media is not None
        last = self.parts[-1] if self.parts else None
        if continues and last is not None and _continues(builder, last):
            last.texts += builder.texts
            last.other = builder.other
        else:
            self._end_call()
            self.parts.append(builder)

    def _add_call(self, item: dict[str, Any], call: dict[str, Any]) -> None:
        """Add a call, or more of the arguments of the call before it, which has no name of its own."""
        self.has_token = True
        part, builder = read_part(item), self.call
        nested = part.other.pop(_CALL, {})
        if builder is None or call.get("name") or call.get("id") not in (None, "", builder.id):
            self._end_call()
            builder = self.call = part
            self.parts.append(builder)
            self.arguments = PartialArguments()
            if call.get("args") == {}:
                builder.arguments = []
        else:
            builder.arguments = part.arguments or builder.arguments
            merge(builder.other, part.other, joins_texts=False)
        pieces = call.get("partialArgs")
        left = [each for each in pieces if not self.arguments.add(each)] if isinstance(pieces, list) else pieces
        rest_of_call = rest_of(nested, partialArgs=pieces, willContinue=None) | ({"partialArgs": left} if left else {})
        if rest_of_call:
            merge(builder.other, {_CALL: rest_of_call}, joins_texts=False)
        if call.get("willContinue") is not True:
            self._end_call()

    def _end_call(self) -> None:
        if self.call is not None:
            self.call.arguments = self.call.arguments or [self.arguments.json()]
            self.call = None

    def output(self) -> Output:
        """Return the candidate with everything added so far."""
        self._end_call()
        return self.builder.output([_part(builder) for builder in self.parts])


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole response."""

    def __init__(self) -> None:
        super().__init__()
        self._candidates: dict[int, _Candidate] = {}
        self._fields: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    @property
    def is_finished(self) -> bool:
        """Whether every candidate has a finish reason, or the prompt was blocked."""
        if self.has_end_mark or self._block_reason() is not None:
            return True
        found = self._candidates.values()
        return bool(found) and all(candidate.builder.finish_reason for candidate in found)

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response."""
        fields = camel_case(event)
        candidates = fields.get("candidates")
        for place, item in enumerate(candidates if isinstance(candidates, list) else ()):
            if is_object(item):
                self._add_candidate(item, place)
        usage = fields.get("usageMetadata")
        if is_object(usage) and usage:
            merge_usage(self._usage, usage)
        self.is_known = self.is_known or any(fields.get(each) is not None for each in _KNOWN)
        self._fields |= {key: value for key, value in event.items() if value is not None and key not in _KEPT_ELSEWHERE}
        if name == "error" or not self.is_known or "error" in event:
            self.add_error(event, name)

    def _add_candidate(self, item: dict[str, Any], place: int) -> None:
        index = item.get("index")
        key = index if type(index) is int and 0 <= index < 2**31 else place
        candidate = self._candidates.get(key)
        if candidate is None:
            if len(self._candidates) >= _MAX_CANDIDATES:
                return
            candidate = self._candidates[key] = _Candidate(key)
        candidate.add(item)
        self.has_token = self.has_token or candidate.has_token

    def _block_reason(self) -> str | None:
        feedback = camel_case(self._fields).get("promptFeedback")
        return text_or_none(camel_case(feedback).get("blockReason")) if is_object(feedback) else None

    def _has_output(self, event: dict[str, Any]) -> bool:
        return bool(self._candidates)

    def _error_of(self, event: dict[str, Any]) -> Error:
        return Error(message="The stream has an error event.", raw=event)

    def response(self) -> Response:
        """Return the response with everything added so far."""
        fields = camel_case(self._fields)
        outputs = [self._candidates[index].output() for index in sorted(self._candidates)]
        vectors = fields.get("embeddings") or fields.get("embedding")
        counted = fields.get("totalTokens")
        read = dict.fromkeys(_READ)
        if vectors is not None:
            outputs += _vectors(vectors)
        elif type(counted) is int and not outputs:  # a response to countTokens
            outputs.append(_output(Part(kind="other", type="token_count", text=f"{counted:,} input tokens")))
            read["totalTokens"] = None
        found = self._error and with_status(self._error)
        error = found or self._blocked() or _failed(outputs)
        if error is not None and error.raw is fields.get("promptFeedback"):
            read["promptFeedback"] = None
        return Response(
            id=text_or_none(fields.get("responseId")),
            model=_model_of(fields.get("modelVersion")),
            outputs=outputs,
            usage=self._usage or None,
            tier=text_or_none(camel_case(self._usage).get("serviceTier")),
            error=error,
            other=rest_of(self._fields, **read),
        )

    def _blocked(self) -> Error | None:
        reason = self._block_reason()
        if reason is None:
            return None
        feedback = camel_case(self._fields)["promptFeedback"]
        message = text_or_none(camel_case(feedback).get("blockReasonMessage"))
        return Error(clean(reason), clean(message or f"The prompt was blocked: {reason}.", ERROR_CHARACTERS), feedback)


def _model_of(value: object) -> str | None:
    name = text_or_none(value)
    return None if name is None else name.removeprefix(_MODELS)


def _output(part: Part) -> Output:
    return Output(index=0, parts=[part])


def _vectors(value: Any) -> list[Output]:
    """Describe the embeddings of a response: one object, or a list of objects with ``values``."""
    found = value if isinstance(value, list) else [value]
    if not (found and is_object(found[0])):
        return []
    numbers = found[0].get("values")
    size = len(numbers) if isinstance(numbers, list) else None
    return [_output(Part(kind="other", type="embeddings", text=describe_vectors(len(found), size)))]


def _failed(outputs: list[Output]) -> Error | None:
    """Return the error of the first candidate that a client cannot use, because the model made a mistake."""
    for output in outputs:
        if output.finish_reason in _FAILED:
            message = text_or_none(camel_case(output.other).get("finishMessage"))
            message = message or f"The response ended with {output.finish_reason}."
            return Error(output.finish_reason, clean(message, ERROR_CHARACTERS))
    return None
