"""Compute keys that tell whether a request continues an earlier exchange.

A request continues an exchange if the messages of the request start with the messages and the response of the exchange.
So each exchange has two sets of keys:

- The first set identifies the messages with which a later request can continue the exchange. For each choice of the
  response, one key covers the messages of the exchange and the choice.
- The second set identifies earlier exchanges that this exchange may continue. For each of the last four assistant
  messages of the request, one key covers the messages up to and including the assistant message.

The request continues an earlier exchange if a key of its second set is in the first set of the earlier exchange.

Keys are hashes of role, text, media and tool calls. System messages are ignored, because many clients change them
between requests. An additional key, the window key, covers only a response and the last two messages before the
response. So the window key still matches after a client has removed the oldest messages. Keys have 63 bits, so
collisions between different conversations are negligible. Pure, without I/O.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct

from relaybook.log.formats import lenient
from relaybook.log.formats.facts import MessageHashes, Origin
from relaybook.log.formats.output_text import OutputText, arguments_text
from relaybook.log.formats.wire import Message, Part

#: Number of assistant messages for which keys are computed, counted from the end of a request.
_MAX_ORIGINS: Final = 4
_MAX_CHOICES: Final = 4
#: A window key covers this number of messages before the response.
_WINDOW: Final = 2
#: Types of items that come from the assistant but have no role (Responses API). Items whose type ends in ``_call`` also
#: come from the assistant, but are not listed here.
_ASSISTANT_ITEMS: Final = frozenset(
    {"reasoning", "compaction", "program", "program_output", "mcp_list_tools", "mcp_approval_request"}
)
_SYSTEM: Final = frozenset({"system", "developer"})


class MessageChain(Struct, array_like=True, frozen=True, omit_defaults=True):
    """The keys (hashes) that tell which requests continue an exchange, and which requests the exchange continues.

    ``messages`` is the number of messages. ``messages_key`` is the key of all messages, or 0 if all of them are system
    messages. For each choice of the response, ``after`` has the key and the window key of the messages and the choice.
    """

    messages: int
    messages_key: int
    after: list[tuple[int, int]] = []
    #: Exchanges that the request may continue, latest first.
    origins: list[Origin] = []
    #: The id of the response that the request continues (``previous_response_id`` of the Responses API).
    previous: str | None = None
    #: The id of the conversation that the request continues (``conversation`` of the Responses API).
    conversation: str | None = None


encode_chain: Final = msgspec.msgpack.Encoder().encode
decode_chain: Final = msgspec.msgpack.Decoder(MessageChain).decode


def hash_messages(
    messages: Sequence[Message], previous: str | None = None, conversation: str | None = None
) -> MessageHashes:
    """Hash the messages of a request.

    ``previous`` is the request's ``previous_response_id``, and ``conversation`` is the id of its conversation.
    """
    chain = b""
    last: deque[bytes] = deque(maxlen=_WINDOW)
    origins: deque[Origin] = deque(maxlen=_MAX_ORIGINS)
    for end, is_assistant, key in _merged(messages):
        window = _window(last, key) if is_assistant else 0
        chain = _hash(chain + key)
        last.append(key)
        if is_assistant:
            origins.appendleft(Origin(end, _number(chain), window))
    return MessageHashes(len(messages), chain, list(last), list(origins), previous, conversation)


def output_keys(choices: Sequence[OutputText]) -> list[bytes]:
    """Return the key (a hash) of each choice's output, for at most the first four choices."""
    keys = []
    for output_text in choices[:_MAX_CHOICES]:
        text = "".join(output_text.text) or "".join(output_text.refusal)
        keys.append(output_key(text, [(tool.name, "".join(tool.arguments)) for tool in output_text.tools]))
    return keys


def output_key(text: str, calls: Sequence[tuple[str | None, str]]) -> bytes:
    """Return the key (a hash) of an output. The key covers the text, and the name and arguments of each tool call."""
    return _key("assistant", text, calls)


def build_chain(request: MessageHashes, keys: Sequence[bytes]) -> MessageChain:
    """Return the keys of an exchange. ``keys`` are the ``output_keys`` of the response (see ``ResponseFacts``).

    If the response has no output, ``keys`` is empty, and no request can continue the exchange.
    """
    after = [(_number(_hash(request.chain + key)), _window(request.last, key)) for key in keys]
    messages_key = _number(request.chain) if request.chain else 0
    return MessageChain(request.messages, messages_key, after, request.origins, request.previous, request.conversation)


def _merged(messages: Sequence[Message]) -> Iterator[tuple[int, bool, bytes]]:
    """Yield all messages except system messages. Consecutive assistant messages are merged.

    Each tuple describes one message: the index of the message after it, whether the assistant sent it, and its key.
    """
    texts: list[str] = []
    calls: list[tuple[str | None, str]] = []
    is_open = False
    for index, message in enumerate(messages):
        if _is_from_assistant(message):
            is_open = True
            texts.append(_assistant_text(message))
            calls += _calls(message)
            continue
        if is_open:
            yield index, True, _key("assistant", "".join(texts), calls)
            texts, calls, is_open = [], [], False
        if message.role not in _SYSTEM:
            text = _text(message.content) or _output(message.output)
            yield index + 1, False, _key(message.role or message.type or "", text, ())
    if is_open:
        yield len(messages), True, _key("assistant", "".join(texts), calls)


def _is_from_assistant(message: Message) -> bool:
    if message.role is not None or message.type is None:
        return message.role == "assistant"
    if message.type == "tool_search_output":
        return message.execution == "server"
    return message.type.endswith("_call") or message.type in _ASSISTANT_ITEMS


def _calls(message: Message) -> Iterator[tuple[str | None, str]]:
    """Yield the name and arguments of each tool call, as ``OutputText`` collects them from a response."""
    arguments = message.input if message.arguments is None else message.arguments
    if message.role is None and (message.name is not None or arguments is not None):
        yield message.name, arguments or ""
    functions = [call.function or call.custom for call in message.tool_calls or ()]
    for function in (*functions, message.function_call):
        if function is not None:
            yield function.name, arguments_text(function) or ""


def _assistant_text(message: Message) -> str:
    """Return the text of an assistant message.

    The reasoning is omitted, because many clients do not send the reasoning again.
    """
    if message.type == "reasoning":
        return ""
    if isinstance(message.content, list):
        return "".join(part.text or part.refusal or "" for part in message.content if part.type != "thinking")
    return message.content or message.refusal or ""


def _text(content: str | list[Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text or part.refusal or _media(part) for part in content)
    return content or ""


def _media(part: Part) -> str:
    """Return the type and a hash of an image, audio, video or file."""
    fields = (
        *(part.image_url, part.input_audio, part.video_url, part.source),
        *(part.file, part.filename, part.file_id, part.file_url, part.file_data),
    )
    return f"[{part.type} {_hash(b'-'.join(map(bytes, fields))).hex()}]"


def _output(output: object) -> str:
    """Return the output of a tool as text. Output other than text becomes JSON."""
    if output is None or isinstance(output, str):
        return output or ""
    return msgspec.json.encode(lenient.sanitize(output), order="sorted").decode()


def _key(role: str, text: str, calls: Sequence[tuple[str | None, str]]) -> bytes:
    """Return an 8-byte hash of a message. Leading and trailing white space is ignored, because clients strip it."""
    content = f"{role}\0{text.strip()}"
    if calls:
        content = "\0".join((content, *(f"{name}\1{arguments.strip()}" for name, arguments in calls)))
    return _hash(content.encode(errors="surrogatepass"))


def _window(last: Sequence[bytes], key: bytes) -> int:
    """Return the window key: a hash of a response and the two messages before the response.

    ``last`` has the keys of these messages, and ``key`` is the key of the response. With fewer than two messages, the
    window key is 0, because single messages of different conversations are often equal.
    """
    return _number(_hash(b"".join((*last, key)))) if len(last) == _WINDOW else 0


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def _number(digest: bytes) -> int:
    """Return the digest as a positive 63-bit integer."""
    return int.from_bytes(digest, "big") >> 1 or 1
