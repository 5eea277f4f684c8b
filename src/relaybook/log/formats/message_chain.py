"""Keys by which a later request is seen to go on where an earlier one was answered.

A request continues another when its messages start with the other's, followed by its answer. So each request has keys
of what would follow it (its messages and an answer: one for each choice), and keys of where it may itself come from: of
its messages up to each of its last assistant messages. Both are hashes of role, text and tool calls; system messages do
not count, for they change. A second key sees only the last two messages before an answer: it still fits when the oldest
were trimmed. Pure; 63-bit keys, so two different conversations meet once in billions.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct

from relaybook.log.formats.facts import Asked, Origin
from relaybook.log.formats.output_text import OutputText, arguments_text
from relaybook.log.formats.wire import Message, Part

#: So many of a request's last assistant messages may be where it goes on.
_MOST_ORIGINS: Final = 4
_MOST_CHOICES: Final = 4
#: Messages before an answer that must be the same when older ones are gone.
_WINDOW: Final = 2
_SYSTEM: Final = frozenset({"system", "developer"})


class MessageChain(Struct, array_like=True, frozen=True, omit_defaults=True):
    """``asked`` is the key of all messages. ``after``: key and window key of each choice of the answer."""

    messages: int
    asked: int
    after: list[tuple[int, int]] = []
    #: The latest first.
    origins: list[Origin] = []
    #: The id of the response it goes on from, which the Responses API names.
    previous: str | None = None


encode_chain: Final = msgspec.msgpack.Encoder().encode
decode_chain: Final = msgspec.msgpack.Decoder(MessageChain).decode


def asked(messages: Sequence[Message], previous: str | None = None) -> Asked:
    """The messages of a request, hashed."""
    chain = b""
    last: deque[bytes] = deque(maxlen=_WINDOW)
    origins: deque[Origin] = deque(maxlen=_MOST_ORIGINS)
    for end, is_assistant, said in _grouped(messages):
        window = _window(last, said) if is_assistant else 0
        chain = _hash(chain + said)
        last.append(said)
        if is_assistant:
            origins.appendleft(Origin(end, _number(chain), window))
    return Asked(len(messages), chain, list(last), list(origins), previous)


def said_by(choices: Sequence[OutputText]) -> list[bytes]:
    """The keys of what the choices of an answer said."""
    keys = []
    for output_text in choices[:_MOST_CHOICES]:
        text = "".join(output_text.text) or "".join(output_text.refusal)
        keys.append(_key("assistant", text, [(tool.name, "".join(tool.arguments)) for tool in output_text.tools]))
    return keys


def turn(request: Asked, said: Sequence[bytes]) -> MessageChain:
    """A request and its answer; nothing can follow it where nothing was said."""
    after = [(_number(_hash(request.chain + key)), _window(request.last, key)) for key in said]
    return MessageChain(request.messages, _number(request.chain), after, request.origins, request.previous)


def _grouped(messages: Sequence[Message]) -> Iterator[tuple[int, bool, bytes]]:
    """Messages but the system's, what an assistant says in a row being one: where each ends, whose it is, its key."""
    texts: list[str] = []
    calls: list[tuple[str | None, str]] = []
    is_open = False
    for index, message in enumerate(messages):
        if _is_assistants(message):
            is_open = True
            texts.append(_text(message.content))
            calls += _calls(message)
            continue
        if is_open:
            yield index, True, _key("assistant", "".join(texts), calls)
            texts, calls, is_open = [], [], False
        if message.role not in _SYSTEM:
            output = message.output if isinstance(message.output, str) else ""
            yield index + 1, False, _key(message.role or message.type or "", _text(message.content) or output, ())
    if is_open:
        yield len(messages), True, _key("assistant", "".join(texts), calls)


def _is_assistants(message: Message) -> bool:
    return message.role == "assistant" or (message.role is None and message.type in ("function_call", "reasoning"))


def _calls(message: Message) -> Iterator[tuple[str | None, str]]:
    if message.type == "function_call":
        yield message.name, message.arguments or ""
    for call in message.tool_calls or ():
        function = call.function or call.custom
        if function is not None:
            yield function.name, arguments_text(function) or ""


def _text(content: str | list[Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text or part.refusal or f"[{part.type}]" for part in content)
    return content or ""


def _key(role: str, text: str, calls: Sequence[tuple[str | None, str]]) -> bytes:
    """Eight bytes of what one of them says. White space at the ends does not count: clients strip it."""
    said = f"{role}\0{text.strip()}"
    if calls:
        said = "\0".join((said, *(f"{name}\1{arguments.strip()}" for name, arguments in calls)))
    return _hash(said.encode(errors="surrogatepass"))


def _window(last: Sequence[bytes], said: bytes) -> int:
    """0 where fewer messages come before it: one alone is said too often to tell anything."""
    return _number(_hash(b"".join((*last, said)))) if len(last) == _WINDOW else 0


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def _number(digest: bytes) -> int:
    """Never 0, never negative."""
    return int.from_bytes(digest, "big") >> 1 or 1
