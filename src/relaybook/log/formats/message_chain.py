"""Compute keys that tell whether a request continues an earlier exchange.

A request continues an exchange if the messages of the request start with the messages and the response of the exchange.
So each exchange has two sets of keys:

- The first set identifies the messages with which a later request can continue the exchange. For each choice of the
  response, one key covers the messages of the exchange and the choice.
- The second set identifies earlier exchanges that this exchange may continue. For each of the last four assistant
  messages of the request, one key covers the messages up to and including the assistant message.

The request continues an earlier exchange if a key of its second set is in the first set of the earlier exchange.

Keys are hashes of role, text, media and tool calls. The arguments of a tool call are compared as JSON, because many
clients parse them and write them anew. System messages are ignored, because many clients change them between requests.
Two additional keys also match if a client has changed other messages. The window key covers only a response and the
last two messages before the response, so it still matches after a client has removed the oldest messages. The loose key
covers the ids of the response's tool calls and the last message before the response, so it still matches if a client
has changed the text or the arguments of the response, or has written the calls into the text. If the response has no
such ids, but a long text, the loose key covers this text and the first paragraph of the last message before it. So it
still matches if the client, like aider, appends reminders only to the last message of a request, or moves earlier
messages. Keys have 63 bits, so collisions between different conversations are negligible.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Message, Part, Request, Response
from relaybook.log.record import Keys, MessageChain, Origin, stored_id

#: Number of assistant messages for which keys are computed, counted from the end of a request.
_MAX_ORIGINS: Final = 4
_MAX_OUTPUTS: Final = 4
#: A window key covers this number of messages before the response.
_WINDOW: Final = 2
#: Many conversations can have the same response if it has fewer characters.
_LONG_TEXT: Final = 80
#: The type of items of which clients send only the id. Most of these items are messages and reasoning of the assistant.
ITEM_REFERENCE: Final = "item_reference"
#: The type of a message with the earlier turns as tokens, which are in the field of this name (Ollama).
_CONTEXT: Final = "context"
#: Types of items that come from the assistant but have no role (Responses API).
_ASSISTANT_ITEMS: Final = frozenset(
    {"compaction", "program", "program_output", "mcp_list_tools", ITEM_REFERENCE, _CONTEXT}
)
#: smolagents never sends tool calls. It appends this text and a list of them to the text of the response, and appends
#: the end of a block of code, where it has stopped the model.
_CALLS_AS_TEXT: Final = "Calling tools:\n[{'id': '"
_ID_IN_TEXT: Final = re.compile(r"(?:^|\{'id': ')([^'\n]{1,100})', 'type': 'function', 'function': ")
_END_OF_CODE: Final = "</code>"
_END_OF_REASONING: Final = re.compile(r"</(?:think|thinking|thought|reasoning|seed:think)>")
_SYSTEM: Final = frozenset({"system", "developer"})


def build_chain(request: Request, response: Response | None) -> MessageChain | None:
    """Return the keys of an exchange. `None` if the request has no messages that a later request could continue.

    Without a response, or if the response has no output, no request can continue the exchange.
    """
    if not request.is_conversation or not request.messages:
        return None
    chain = b""
    last: deque[bytes] = deque(maxlen=_WINDOW)
    before: Message | None = None
    origins: deque[Origin] = deque(maxlen=_MAX_ORIGINS)
    for end, parts, key in _merged(request.messages):
        chain_after = _hash(chain + key)
        if parts is not None:
            reference = _reference(parts)
            keys = _keys(chain_after, last, before, key, parts) if reference is None else _keys_of_item(reference)
            origins.appendleft(Origin(end, keys))
        else:
            before = request.messages[end - 1]
        chain = chain_after
        last.append(key)
    after = []
    response = response or Response()
    for output in response.outputs[:_MAX_OUTPUTS]:
        is_empty = not output.parts and (output.finish_reason is None or response.error is not None)
        if not is_empty and (not output.parts or any(part.kind != "other" for part in output.parts)):
            key = _assistant_key(output.parts)
            after.append(_keys(_hash(chain + key), last, before, key, output.parts))
    if after and (item_id := _last_item_id(response)) is not None:
        after.append(_keys_of_item(item_id))
    messages_key = _number(chain) if chain else 0
    previous, conversation = (
        None if each is None else stored_id(each) for each in (request.previous, request.conversation)
    )
    return MessageChain(len(request.messages), messages_key, after, list(origins), previous, conversation)


def _keys(chain: bytes, last: Sequence[bytes], before: Message | None, key: bytes, parts: Sequence[Part]) -> Keys:
    """Return the keys of a response. ``last`` has the keys of the last messages before it; ``before`` is the last one.

    With fewer than two messages, the window key is 0, because single messages of different conversations are often
    equal.
    """
    window = _number(_hash(b"".join((*last, key)))) if len(last) == _WINDOW else 0
    ids = [part.id for part in parts if part.kind == "tool_call" and part.id]
    ids = ids or [call_id for part in parts if part.kind == "text" for call_id in _ids_in_text(part.text or "")]
    loose = 0
    if ids and last:
        loose = _number(_hash(last[-1] + "\0".join(ids).encode()))
    elif before is not None and len(_text(parts)) >= _LONG_TEXT:
        loose = _number(_hash(key + _first_paragraph(before).encode(errors="replace")))
    return Keys(_number(chain), window, loose)


def _keys_of_item(item_id: str) -> Keys:
    """Return the keys of an item that the provider stores. The id alone identifies the item."""
    return Keys(_number(_hash(f"item\0{item_id}".encode(errors="replace"))), 0, 0)


def _reference(parts: Sequence[Part]) -> str | None:
    """Return the id of the last stored item, if an assistant message consists only of references to such items.

    A context identifies the response that has the same context, as if it were the id of the response.
    """
    if parts and parts[-1].type == _CONTEXT:
        return _context_id(parts[-1].other)
    if not parts or any(part.type != ITEM_REFERENCE for part in parts):
        return None
    item_id = parts[-1].other.get("id")
    return item_id if isinstance(item_id, str) else None


def _last_item_id(response: Response) -> str | None:
    """Return the id of the last item of a response (Responses API), or of its context (Ollama)."""
    if (context_id := _context_id(response.other)) is not None:
        return context_id
    items = response.other.get("output")
    item_id = list(items.values())[-1].get("id") if isinstance(items, dict) and items else None
    return item_id if isinstance(item_id, str) else None


def _context_id(fields: dict[str, Any]) -> str | None:
    context = fields.get(_CONTEXT)
    return _hash(lenient.canonical_json(context)).hex() if isinstance(context, list) and context else None


def _merged(messages: Sequence[Message]) -> Iterator[tuple[int, list[Part] | None, bytes]]:
    """Yield all messages except system messages. Consecutive assistant messages are merged.

    A tool result that is equal to the one before it is omitted.

    Each tuple describes one message: the index of the message after it, its parts if the assistant sent it, and its
    key.
    """
    parts: list[Part] | None = None
    latest = b""
    for index, message in enumerate(messages):
        if is_from_assistant(message):
            parts = (parts or []) + message.parts
            continue
        if parts is not None:
            yield index, parts, _assistant_key(parts)
            parts = None
        if message.role in _SYSTEM:
            continue
        key = _key(message)
        # Gemini CLI sends the results of tools twice after it has restored a conversation.
        if message.role != "tool" or key != latest:
            yield index + 1, None, key
        latest = key
    if parts is not None:
        yield len(messages), parts, _assistant_key(parts)


def is_from_assistant(message: Message) -> bool:
    """Return whether the message is part of a response."""
    if message.role is not None:
        return message.role == "assistant"
    part = message.parts[0] if message.parts else None
    if part is None or part.type is None:
        return False
    if part.type == "tool_search_output":
        return part.other.get("execution") == "server"
    return part.type in _ASSISTANT_ITEMS


def _assistant_key(parts: Sequence[Part]) -> bytes:
    """Return the key of a response: its text, or its refusal, and its tool calls.

    The reasoning is omitted, because many clients do not send the reasoning again.
    """
    calls = [part for part in parts if part.kind == "tool_call" and not _is_unnamed(part)]
    content = f"assistant\0{_text(parts)}"
    if parts and parts[0].type == _CONTEXT:
        content += f"\0{_context_id(parts[0].other)}"
    if calls:
        content = "\0".join((content, *(f"{call.name}\1{_arguments(call.arguments)}" for call in calls)))
    return _hash(content.encode(errors="replace"))


def _text(parts: Sequence[Part]) -> str:
    text = "".join([part.text for part in parts if part.kind == "text" and part.text])
    return _sent_again(text or "".join([part.text for part in parts if part.kind == "refusal" and part.text]))


def _sent_again(text: str) -> str:
    """Return a text of the assistant as clients send it again.

    Many clients omit reasoning in tags, whose first tag can be part of the prompt. All clients may strip white space.
    """
    if "</" in text:
        text = text[max((found.end() for found in _END_OF_REASONING.finditer(text)), default=0) :]
    if _CALLS_AS_TEXT in text:
        text = text.partition(_CALLS_AS_TEXT)[0]
    return text.strip().removesuffix(_END_OF_CODE).rstrip()


def _ids_in_text(text: str) -> list[str]:
    """Return the ids of tool calls that a client has written into a text."""
    _, found, calls = text.partition(_CALLS_AS_TEXT)
    return _ID_IN_TEXT.findall(calls) if found else []


def _is_unnamed(call: Part) -> bool:
    """Return whether a call has the name of its type, as calls of OpenAI's own tools do."""
    return call.type is not None and call.type == f"{call.name}_call"


def _arguments(arguments: str | None) -> str:
    """Return arguments in one spelling. Arguments that are not JSON are only stripped."""
    text = (arguments or "").strip()
    if not text:
        return "{}"
    value = lenient.load(text.encode(errors="replace"))
    if value is None:
        return text
    return lenient.canonical_json(value).decode()


def _key(message: Message) -> bytes:
    """Return the key of a message that the assistant did not send."""
    texts = [_content(part) for part in message.parts]
    role = message.role or (message.parts[0].type if message.parts else None) or ""
    return _hash(f"{role}\0{chr(10).join(texts).strip()}".encode(errors="replace"))


def _first_paragraph(message: Message) -> str:
    """Return the first paragraph of the first part of a message."""
    return _content(message.parts[0]).strip().partition("\n\n")[0] if message.parts else ""


def _content(part: Part) -> str:
    if part.media is not None:
        media = part.media
        data = (media.url or media.name or "").partition(";base64,")
        return f"[{part.kind} {_hash((data[2] or data[0]).encode(errors='replace')).hex()}]"
    if part.kind == "other":
        fields = {name: value for name, value in part.other.items() if name != "cache_control"}
        return lenient.canonical_json(fields).decode() if fields else part.text or ""
    return part.text or ""


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()


def _number(digest: bytes) -> int:
    """Return the digest as a positive 63-bit integer."""
    return int.from_bytes(digest, "big") >> 1 or 1
