"""Read Ollama's own API: ``api/chat``, ``api/generate``, ``api/embed`` and ``api/embeddings``.

Responses are streams of JSON lines unless the request says ``"stream": false``. Each line has a fragment of the text,
and the last one has ``"done": true``. A whole response has the fields of all lines. Tool calls are never split between
lines, and their arguments are an object. An error is a text.

``prompt_eval_count`` is missing if the whole prompt was in Ollama's cache. ``context``, which a response of
``api/generate`` has and a later request sends again, is the conversation so far as tokens. Source: the types of
Ollama's Python SDK, version 0.6.3, and https://docs.ollama.com/api.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats.chat import tool_result
from relaybook.log.formats.completion import read_texts
from relaybook.log.formats.content import content_parts, ends
from relaybook.log.formats.conversation import Message, Part, Request, Response
from relaybook.log.formats.embedding import describe_response
from relaybook.log.formats.lenient import as_json, is_object, join, sanitize, text_or_none
from relaybook.log.formats.media import media_part
from relaybook.log.formats.output import OutputBuilder, add_fragment, merge
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.usage import merge_usage

#: The type of the message that stands for the earlier turns of ``api/generate``.
CONTEXT: Final = "context"
_COUNTS: Final = ("prompt_eval_count", "eval_count")
#: The fields of a message with the types that are read. Other values are kept as sent.
_MESSAGE: Final[dict[str, type]] = {
    "role": str,
    "content": str,
    "thinking": str,
    "images": list,
    "tool_calls": list,
}
#: The fields of a response that are read, with their types.
_RESPONSE: Final[dict[str, type]] = {
    "model": str,
    "message": dict,
    "response": str,
    "thinking": str,
    "image": str,
    "embedding": list,
    "embeddings": list,
    "done": bool,
    "done_reason": str,
    "prompt_eval_count": object,
    "eval_count": object,
}


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the messages of a request: those of a chat, the system prompt and the prompt, or the texts to embed."""
    if match.path.startswith("api/embed"):
        return read_texts(body, "prompt" if match.path == "api/embeddings" else "input")
    messages: list[Message] = []
    omitted, read = 0, set()
    if isinstance(items := body.get("messages"), list):
        first, omitted, last = ends(items)
        messages = [_message(item) for item in (*first, *last)]
        read.add("messages")
    elif "messages" not in body:
        messages = _prompt(body, read)
    stream = body.get("stream")
    return Request(
        messages=messages,
        omitted=omitted,
        parameters={name: value for name, value in body.items() if name not in read},
        is_conversation=True,
        stream=stream is not False,
    )


def _prompt(body: dict[str, Any], read: set[str]) -> list[Message]:
    """Return the messages of ``api/generate``, and add the fields that they have to ``read``."""
    messages = []
    if isinstance(system := body.get("system"), str) and system:
        messages.append(Message("system", content_parts(system)))
        read.add("system")
    if isinstance(context := body.get("context"), list) and context:
        text = f"[{len(context):,} tokens of earlier turns]"
        messages.append(Message(None, [Part("other", text, type=CONTEXT, other={CONTEXT: context})]))
        read.add("context")
    parts = []
    if isinstance(prompt := body.get("prompt"), str):
        parts = content_parts(prompt)
        read.add("prompt")
    if isinstance(images := body.get("images"), list):
        parts += map(_image, images)
        read.add("images")
    if parts:
        messages.append(Message("user", parts))
    return messages


def _message(item: object) -> Message:
    if not isinstance(item, dict):
        return Message("user" if isinstance(item, str) else None, content_parts(item))
    role, name = item.get("role"), item.get("tool_name")
    parts = _parts(item)
    read = _MESSAGE
    if role == "tool":
        parts = tool_result(item.get("tool_call_id"), parts)
        parts[0].name = sanitize(name) if isinstance(name, str) else None
        read = _MESSAGE | {"tool_name": str, "tool_call_id": str}
    role = sanitize(role) if isinstance(role, str) else None
    return Message(role, parts, other=_other(item, read))


def _parts(message: dict[str, Any]) -> list[Part]:
    """Return the parts of a message of a request."""
    parts = []
    if thinking := text_or_none(message.get("thinking")):
        parts.append(Part("reasoning", join([thinking])))
    if isinstance(content := message.get("content"), str):
        parts += content_parts(content)
    if isinstance(images := message.get("images"), list):
        parts += map(_image, images)
    if isinstance(calls := message.get("tool_calls"), list):
        parts += map(_call, calls)
    return parts


def _image(data: object) -> Part:
    """Return an image, whose type Ollama does not say."""
    return media_part("image", {"data": data} if isinstance(data, str) else data, {})


def _call(call: object) -> Part:
    if not isinstance(call, dict):
        return Part("other", as_json(call))
    called = call.get("function")
    called = called if isinstance(called, dict) else {}
    name, call_id, arguments = called.get("name"), call.get("id"), called.get("arguments")
    other = {key: value for key, value in call.items() if key not in ("id", "type", "function")}
    if more := {key: value for key, value in called.items() if key not in ("name", "arguments", "index")}:
        other["function"] = more
    return Part(
        "tool_call",
        name=sanitize(name) if isinstance(name, str) else None,
        id=sanitize(call_id) if isinstance(call_id, str) and call_id else None,
        arguments=join([arguments]) if isinstance(arguments, str) else as_json(arguments or {}),
        other=other,
    )


def _other(fields: dict[str, Any], read: dict[str, type]) -> dict[str, Any]:
    """Return the fields that are not read, or have a type that is not read."""
    return {
        name: value for name, value in fields.items() if value is not None and not isinstance(value, read.get(name, ()))
    }


class Stream(BaseStream):
    """The lines of a streamed response so far. A whole response counts as one line."""

    def __init__(self) -> None:
        super().__init__()
        self._builder = OutputBuilder(0)
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._images: list[Part] = []
        self._calls: list[Part] = []
        self._calls_by_id: dict[str, Part] = {}
        self._vectors: str | None = None
        self._model: str | None = None
        self._usage: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}

    def add(self, line: dict[str, Any], name: str = "") -> None:
        """Add a line, or a whole response."""
        if is_object(message := line.get("message")):
            self._add_message(message)
        self._add_texts(line.get("response"), line.get("thinking"))
        if image := text_or_none(line.get("image")):
            self._images.append(_image(image))
        self._vectors = self._vectors or describe_response(line)
        self._model = self._model or text_or_none(line.get("model"))
        if reason := text_or_none(line.get("done_reason")):
            self._builder.finish_reason = reason
        self.has_end_mark |= line.get("done") is True
        merge_usage(self._usage, {count: line[count] for count in _COUNTS if line.get(count) is not None})
        if isinstance(line.get("done"), bool) or self._model is not None or "embedding" in line or "embeddings" in line:
            self.is_known = True
        if self._text or self._thinking or self._images or self._calls:
            self.has_token = True
        more = {} if line.keys() <= _RESPONSE.keys() else _other(line, _RESPONSE)
        if logprobs := more.pop("logprobs", None):
            merge(self._builder.other, {"logprobs": logprobs})
        merge(self._fields, {key: value for key, value in more.items() if key != "error"}, joins_texts=False)
        if "error" in line or not self.is_known:
            self.add_error(line, name)

    def _add_message(self, message: dict[str, Any]) -> None:
        self.is_known = True
        self._add_texts(message.get("content"), message.get("thinking"))
        if isinstance(images := message.get("images"), list):
            self._images += map(_image, images)
        if isinstance(calls := message.get("tool_calls"), list):
            for call in map(_call, calls):
                self._add_call(call)
        if not message.keys() <= _MESSAGE.keys():
            merge(self._builder.other, _other(message, _MESSAGE))

    def _add_texts(self, text: object, thinking: object) -> None:
        add_fragment(self._text, text)
        add_fragment(self._thinking, thinking)

    def _add_call(self, call: Part) -> None:
        """Add a call. A call with an id that was seen before is the same call."""
        known = self._calls_by_id.get(call.id or "")
        if known is not None:
            known.name, known.arguments, known.other = call.name, call.arguments, call.other
            return
        self._calls.append(call)
        if call.id:
            self._calls_by_id[call.id] = call

    def response(self) -> Response:
        """Return the response with everything added so far."""
        parts = []
        if self._thinking:
            parts.append(Part("reasoning", join(self._thinking)))
        if self._text:
            parts.append(Part("text", join(self._text)))
        parts += [*self._images, *self._calls]
        if self._vectors is not None:
            parts.append(Part("other", self._vectors, type="embeddings"))
        output = self._builder.output(parts)
        has_output = bool(parts or self.has_end_mark or output.finish_reason)
        return Response(
            model=self._model,
            outputs=[output] if has_output else [],
            usage=self._usage or None,
            error=self._error,
            other=self._fields,
        )
